"""How kernels are compiled, cached and called. The only package that imports numba.

Imports nothing else of this tree. Begin with `decorators.py`.
"""

"""Layered searches for the best single paths.

May import `curves`, `jit`, `kernels.arrays`, `kernels.vectors` and `kernels.work`. Begin with `best_paths.py`.
"""

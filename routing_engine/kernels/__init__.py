"""Compiled searches: arrays in, arrays out.

Kernels rank in float64 and promise nothing; they hold no state and release the GIL.

May import `curves` and `jit`. Begin with `arrays.py`.
"""

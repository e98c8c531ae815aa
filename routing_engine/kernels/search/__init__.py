"""Layered searches for the best single paths.

May import `curves`, `jit` and `kernels.arrays`. Begin with `best_paths.py`.
"""

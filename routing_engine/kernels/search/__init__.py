"""Layered searches for the best single paths.

May import `curves`, `jit`, `kernels.arrays` and `kernels.vectors`. Begin with `best_paths.py`.
"""

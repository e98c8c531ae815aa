"""Splits: which paths to use, and how much to send down each.

May import `jit`, `kernels.arrays`, `kernels.bound`, `kernels.marginal_price`, `kernels.search` and `kernels.vectors`.
Begin with `column_generation.py`.
"""

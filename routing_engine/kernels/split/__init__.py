"""Splits: which paths to use, and how much to send down each.

May import `jit`, `kernels.arrays`, `kernels.bound`, `kernels.marginal_price`, `kernels.search`, `kernels.vectors`
and `kernels.work`. Begin with `column_generation.py`.
"""

"""Certificates: what no allocation to routes of few hops can exceed.

May import `curves`, `jit`, `kernels.marginal_price` and `kernels.search`. Begin with `dual_bound.py`.
"""

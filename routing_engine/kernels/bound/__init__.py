"""Certificates: what no allocation to routes of few hops can exceed.

May import `curves`, `jit`, `kernels.marginal_price`, `kernels.search`, `kernels.skyline`, `kernels.vectors` and
`kernels.work`. Begin with `dual_bound.py`.
"""

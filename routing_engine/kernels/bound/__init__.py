"""Certificates: what no allocation to routes of few hops can exceed.

May import `curves`, `jit`, `kernels.marginal_price`, `kernels.search` and `kernels.vectors`. Begin with
`dual_bound.py`.
"""

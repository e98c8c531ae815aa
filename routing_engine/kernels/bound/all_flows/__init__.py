"""Bounds over paths of any number of markets: a price for each token. Of many paths, `least_flow_bound` proves more.

May import `jit`, `kernels.bound.dual_bound`, `kernels.bound.initial_prices`, `kernels.bound.loss_edges`,
`kernels.bound.settled_prices`, `kernels.marginal_price`, `kernels.skyline` and `kernels.work`. Begin with
`flow_bound.py`.
"""

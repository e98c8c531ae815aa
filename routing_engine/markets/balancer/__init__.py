"""Pools of Balancer v1 and of the Balancer v2 vault.

May import `amm`, `curves`, `errors`, `fixed_point`, `market`, `markets.common`, `markets.stableswap` and `model`.
Begin with `weighted.py`.
"""

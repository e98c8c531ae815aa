"""Fluid DEX v1 pools.

May import `amm`, `curves`, `errors`, `fixed_point`, `market`, `markets.common` and `model`. Begin with `pool.py`.
"""

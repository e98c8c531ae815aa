"""Curve's crypto pools.

May import `amm`, `curves`, `errors`, `fixed_point`, `market`, `markets.common`, `markets.stableswap` and `model`.
Begin with `pool.py`.
"""

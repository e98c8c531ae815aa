"""Curve's StableSwap pools and those that copied them.

May import `amm`, `curves`, `errors`, `fixed_point`, `market`, `markets.common` and `model`. Begin with `pool.py`.
"""

"""Curve's StableSwap pools and those that copied them.

May import `amm`, `curves`, `errors`, `fixed_point`, `markets.common` and `model`. Begin with `pool.py`.
"""

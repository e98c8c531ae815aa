"""Curve's crypto pools.

May import `amm.stableswap` and `fixed_point`. Begin with `exchange.py`.
"""

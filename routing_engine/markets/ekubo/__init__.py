"""Ekubo pools.

May import `amm`, `curves`, `errors`, `markets.common` and `model`. Begin with `pool.py`.
"""

"""Ekubo pools.

May import `amm`, `curves`, `errors`, `market`, `markets.common` and `model`. Begin with `pool.py`.
"""

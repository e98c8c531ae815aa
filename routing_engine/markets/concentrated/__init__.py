"""Uniswap v3, its forks, and Uniswap v4.

May import `amm`, `curves`, `errors`, `fixed_point`, `market`, `markets.common`, `model` and `reference`. Begin with
`pool.py`.
"""

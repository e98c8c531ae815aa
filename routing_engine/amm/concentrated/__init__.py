"""Uniswap v3 and v4, and their forks.

May import `amm.integer_search` and `fixed_point`. Begin with `swap_loop.py`.
"""

"""Uniswap v3, its forks, and Uniswap v4."""

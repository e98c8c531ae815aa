"""Facts about chains and tokens that do not change from block to block.

May import `errors`, `market`, `model` and `token_fields`. Begin with `chains.py`.
"""

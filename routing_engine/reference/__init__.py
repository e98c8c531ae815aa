"""Facts about chains and tokens that do not change from block to block.

May import `errors` and `model`. Begin with `chains.py`.
"""

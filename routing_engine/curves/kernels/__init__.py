"""Curves as kernels see them: an edge's Möbius pieces, and the formulas that pieces are fitted to, a file each.

May import `curves.cryptoswap`, `curves.shape`, `curves.stableswap` and `jit`. Begin with `edge_curve.py`.
"""

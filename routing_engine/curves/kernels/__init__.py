"""The compiled formula of each curve: one file for each invariant, and the edge that chooses among them.

May import `curves.cryptoswap`, `curves.shape`, `curves.stableswap` and `jit`. Begin with `edge_curve.py`.
"""

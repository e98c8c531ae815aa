"""The float64 shape of one direction of one market, as an object and as what compiled kernels read.

May import `jit`. Begin with `curve.py`.
"""

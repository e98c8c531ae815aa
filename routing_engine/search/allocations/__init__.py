"""An amount allocated to paths, in floats: what kernels are given and leave, what it gives and costs.

May import `certificate`, `curves`, `graph`, `jit`, `kernels`, `request` and `values`. Begin with `allocation.py`.
"""

"""The graph that searches run on: flat arrays in CSR order, compiled from a snapshot and written over by updates.

May import `curves`, `errors`, `jit`, `kernels`, `market`, `markets`, `model`, `reference` and `route`. Begin with
`graph.py`.
"""

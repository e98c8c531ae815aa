"""Exact-in: an amount that is sold, begun with paths that take it.

May import `curves`, `deadline`, `errors`, `jit`, `kernels`, `request`, `route`, `search.allocations`,
`search.paths` and `search.splits`. Begin with `selling.py`.
"""

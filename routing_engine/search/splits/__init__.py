"""An amount split over many paths, its bound, and what makes a split better.

May import `certificate`, `curves`, `deadline`, `errors`, `graph`, `jit`, `kernels`, `market`, `model`, `request`,
`route`, `search.allocations` and `search.paths`. Begin with `query.py`.
"""

"""Single paths: found, replayed in exact integers, and what is known of them.

May import `curves`, `errors`, `graph`, `jit`, `kernels`, `market`, `model`, `reference`, `request`, `route`,
`search.allocations` and `values`. Begin with `path_search.py`.
"""

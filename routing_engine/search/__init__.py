"""From a request to exact answers: paths, splits, alternatives, and why there is none.

May import `certificate`, `curves`, `deadline`, `errors`, `fixed_point`, `graph`, `jit`, `kernels`, `market`, `model`,
`reference`, `request`, `result`, `route` and `values`. Begin with `splits/query.py`.
"""

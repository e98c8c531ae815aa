"""What a market says beside its best routes: loops that pay, what liquidity is there, who contributes what.

May import `batch`, `certificate`, `errors`, `fixed_point`, `frames`, `graph`, `market`, `model`, `paths`, `request`,
`request_fields`, `resolution`, `result`, `route`, `router`, `snapshot` and `values`. Begin with `cycles.py`.
"""

"""What a market says beside its best routes: loops that pay, what liquidity is there, who contributes what.

May import `errors`, `fixed_point`, `frames`, `graph`, `market`, `model`, `paths`, `route`, `router` and `values`.
Begin with `cycles.py`.
"""

"""From allocations in floats to hops in exact integers, forwards and backwards.

May import `curves`, `errors`, `graph`, `jit`, `market`, `model`, `search.allocations`, `search.purchases` and
`search.splits`. Begin with `allocation_replay.py`.
"""

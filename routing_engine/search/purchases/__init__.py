"""Exact-out: the input that has to be sold to get an amount.

May import `graph`, `request`, `search.allocations`, `search.paths`, `search.sales` and `search.splits`. Begin with
`buying.py`.
"""

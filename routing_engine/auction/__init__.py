"""Batch auctions of limit orders, as CoW Protocol's solver engines get them: read, solved, written.

It does no input or output and knows no web framework: an auction goes in as plain JSON values, solutions come out.

May import `amm`, `deadline`, `errors`, `fixed_point`, `formats`, `market`, `markets`, `model`, `reference`, `request`,
`route`, `router`, `snapshot`, `token_fields` and `values`. Begin with `solver.py`.
"""

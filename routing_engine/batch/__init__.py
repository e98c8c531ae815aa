"""Many requests at once: over arrays, files, threads and processes, with everything compiled beforehand.

May import `deadline`, `errors`, `frames`, `markets`, `model`, `request`, `request_fields`, `result`, `route`,
`route_columns`, `snapshot` and `values`. Begin with `quotes.py`.
"""

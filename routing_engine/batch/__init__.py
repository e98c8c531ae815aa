"""Many requests at once: over arrays, files, threads and processes, with everything compiled beforehand.

May import `deadline`, `errors`, `markets`, `model`, `request`, `route`, `snapshot` and `values`.
Begin with `quotes.py`.
"""

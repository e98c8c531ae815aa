"""Solvers of one's own, as an example. Begin with `http_solver.py`."""

"""Routers to compare with, one file each, and this project's own: all of them solvers. Begin with `this_router.py`."""

"""Checks in a process whose path has a package from outside the tree: started by `tests/packaging/test_outside.py`."""

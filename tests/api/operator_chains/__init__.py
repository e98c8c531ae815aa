"""Checks in a process of their own, with two chains more, started by `tests/api/operation/test_operator_chains.py`."""

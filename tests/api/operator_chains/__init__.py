"""Checks in a process of their own, which knows two chains more: started by `tests/api/test_operator_chains.py`."""

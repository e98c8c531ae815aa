"""The contracts' own arithmetic as pure functions of integers, one module per invariant."""

"""Bridges: what each asks, by its API or its contracts, and firm quotes before somebody pays."""

"""Layered searches for the best single paths."""

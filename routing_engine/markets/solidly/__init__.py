"""Pools of the Solidly family."""

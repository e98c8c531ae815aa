"""Bridges: what each asks, by its API or its contracts, and firm quotes before somebody pays.

May import `base`, `chain`, `feed`, `http`, `routing_engine`, `rpc` and `transactions`. Begin with `across.py`.
"""

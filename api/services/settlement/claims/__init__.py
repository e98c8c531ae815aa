"""Signed claims: who says that a transfer pays an order, and the proof of it.

May import `adapters`, `domain`, `routing_engine`, `services.resources` and `storage`. Begin with `signed_claims.py`.
"""

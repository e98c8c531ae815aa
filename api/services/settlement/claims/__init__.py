"""Signed claims: who says that a transfer pays an order, and the proof of it."""

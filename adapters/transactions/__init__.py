"""Transactions that a payer's wallet signs: calldata for transfers, swaps and bridges, and their simulation.

May import `base`, `chain`, `installed`, `routing_engine` and `rpc`. Begin with `payment_builders.py`.
"""

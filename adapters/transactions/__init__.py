"""Transactions that a payer's wallet signs: calldata for transfers, swaps and bridges, and their simulation."""

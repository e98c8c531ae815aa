"""Exchanges on chains: one file for each, read by the adapter `chain`.

May import `base`, `chain`, `routing_engine` and `rpc`. Begin with `uniswap_v2.py`.
"""

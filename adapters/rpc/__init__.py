"""Chains behind JSON-RPC endpoints: fail-over, batches, scans, logs and the ABI.

May import `base`, `http` and `routing_engine`. Begin with `endpoint_pool.py`.
"""

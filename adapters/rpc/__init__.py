"""Chains behind JSON-RPC endpoints: fail-over, batches, scans, logs and the ABI."""

"""Who moved money, and what says so: traces, calldata and signatures.

May import `adapters`, `domain`, `routing_engine` and `services.ledger.rpc_records`. Begin with `evidence.py`.
"""

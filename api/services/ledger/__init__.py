"""What chains say, read so that it can be relied on.

May import `adapters`, `domain` and `routing_engine`. Begin with `chain_ledger.py`.
"""

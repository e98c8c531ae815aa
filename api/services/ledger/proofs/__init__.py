"""Blocks held against their own roots.

May import `adapters`, `domain`, `services.ledger.chain_reader`, `services.ledger.evidence`, `services.ledger.hashes`,
`services.ledger.rpc_records`, `services.ledger.transfers` and `services.ledger.witnesses`. Begin with `blocks.py`.
"""

"""What blocks hash to: their headers, their transactions and their receipts.

May import `adapters`, `services.ledger.blooms` and `services.ledger.rpc_records`. Begin with `contents.py`.
"""

"""Chains looked at again and again: new blocks, doubtful ones, and what is awaited.

May import `domain`, `services.audit`, `services.ledger`, `services.orders`, `services.resources`,
`services.settlement.crediting`, `services.vendors` and `storage`. Begin with `watcher.py`.
"""

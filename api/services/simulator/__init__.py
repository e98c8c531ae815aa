"""Test orders on simulated chains: wallets, a bridge, and what can be made to happen.

May import `domain`, `routing_engine`, `services.checkout`, `services.orders`, `services.resources`,
`services.settlement` and `storage`. Begin with `ledger.py`.
"""

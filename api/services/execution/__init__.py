"""Routes that a wallet can execute: the transactions of each leg, tried out, and what became of one by its hash.

May import `adapters`, `domain`, `routing_engine`, `services.chains`, `services.ledger`, `services.market`,
`services.resources` and `services.routing`. Begin with `executable_routes.py`.
"""

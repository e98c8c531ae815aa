"""From blocks to orders: watching chains, telling whose a payment is, crediting what arrives.

May import `adapters`, `domain`, `routing_engine`, `services.audit`, `services.ledger`, `services.orders`,
`services.resources`, `services.routing`, `services.vendors`, `services.webhooks` and `storage`. Begin with
`watching/watcher.py`.
"""

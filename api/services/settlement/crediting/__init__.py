"""From a transfer to the order that it pays, or to the unmatched ones.

May import `adapters`, `domain`, `routing_engine`, `services.audit`, `services.orders`, `services.routing`,
`services.settlement.claims`, `services.vendors`, `services.webhooks` and `storage`. Begin with `crediting.py`.
"""

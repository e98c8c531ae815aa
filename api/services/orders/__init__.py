"""Payment orders: made, stored, shown, cancelled, expired and refunded.

May import `adapters`, `domain`, `routing_engine`, `services.audit`, `services.chains`, `services.resources`,
`services.routing`, `services.vendors`, `services.webhooks` and `storage`. Begin with `creation.py`.
"""

"""What a customer at the checkout needs.

May import `adapters`, `domain`, `routing_engine`, `services.chains`, `services.orders`, `services.resources`,
`services.routing`, `services.settlement` and `storage`. Begin with `quotes.py`.
"""

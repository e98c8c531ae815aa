"""Events to their subscribers: the outbox, deliveries and their log.

May import `domain`, `net`, `secrets`, `services.audit`, `services.chains`, `services.resources`, `services.vendors` and
`storage`. Begin with `outbox.py`.
"""

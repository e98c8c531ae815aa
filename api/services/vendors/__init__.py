"""Vendors, their keys and their settlement accounts.

May import `adapters`, `domain`, `routing_engine`, `services.audit`, `services.chains`, `services.resources` and
`storage`. Begin with `vendors.py`.
"""

"""Routes, quotes and tokens for the API.

May import `domain`, `routing_engine`, `services.market`, `services.resources` and `storage`. Begin with `routes.py`.
"""

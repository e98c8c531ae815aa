"""Fields: one value each, in a body or in a query.

May import `bodies`, `domain`, `routing_engine` and `services`. Begin with `plain.py`.
"""

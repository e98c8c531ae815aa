"""The payment domain: no web framework, no SQL.

May import `adapters` and `routing_engine`. Begin with `orders.py`.
"""

"""The payment domain: no web framework, no SQL.

May import `routing_engine`. Begin with `orders.py`.
"""

"""A client for JSON services that may hang, lie, flood or refuse.

May import `base` and `routing_engine`. Begin with `client.py`.
"""

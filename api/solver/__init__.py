"""A solver engine over HTTP, as CoW Protocol's drivers call it. It shares nothing with the checkout service.

May import `logs` and `routing_engine`. Begin with `app.py`.
"""

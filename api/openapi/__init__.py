"""The OpenAPI document: what the views and schemas say of themselves, and what holds for every operation.

May import `domain`, `errors`, `event_stream` and `routing_engine`. Begin with `document.py`.
"""

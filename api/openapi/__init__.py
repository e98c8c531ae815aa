"""The OpenAPI document: what the views and schemas say of themselves, and what holds for every operation.

May import `bodies`, `domain` and `routing_engine`. Begin with `document.py`.
"""

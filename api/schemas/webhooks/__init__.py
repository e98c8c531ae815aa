"""Subscriptions, and the events that they are told.

May import `domain`, `schemas.base`, `schemas.fields`, `schemas.orders` and `services`. Begin with `subscriptions.py`.
"""

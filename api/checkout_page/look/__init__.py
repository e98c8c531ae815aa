"""Whose page it looks like: the merchant's colours and contact, and marks for tokens, chains and names.

May import `checkout_page.language`, `domain`, `routing_engine` and `services`. Begin with `branding.py`.
"""

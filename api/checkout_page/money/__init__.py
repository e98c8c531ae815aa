"""Amounts as people read them: what is paid, what came, what is on its way and what strands.

May import `checkout_page.language`, `domain`, `routing_engine` and `services`. Begin with `amounts.py`.
"""

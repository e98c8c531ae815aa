"""Payment links, payment orders, their refunds, and money that fits none.

May import `domain`, `schemas.base`, `schemas.fields` and `services`. Begin with `payment_links.py`.
"""

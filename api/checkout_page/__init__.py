"""What the checkout page shows: amounts, texts, states and addresses, ready for its templates and scripts.

May import `adapters`, `bodies`, `domain`, `routing_engine`, `schemas` and `services`. Begin with `page.py`.
"""

"""Where an order stands, in the customer's words: what the page shows and what its scripts poll.

May import `checkout_page.language`, `checkout_page.look`, `checkout_page.money`, `domain` and `services`.
Begin with `state.py`.
"""

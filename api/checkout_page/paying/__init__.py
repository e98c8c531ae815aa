"""How an order can be paid: ways, prices, transactions to sign, and claims of payments.

May import `adapters`, `checkout_page.language`, `checkout_page.look`, `checkout_page.money`, `domain`,
`routing_engine` and `services`. Begin with `quotes.py`.
"""

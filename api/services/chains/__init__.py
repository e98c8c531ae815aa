"""Access to chains for building payments: endpoints to try them on, what tokens say of themselves, screening.

May import `adapters`, `config`, `domain`, `routing_engine`, `services.ledger` and `setting_values`. Begin with
`chain_access.py`.
"""

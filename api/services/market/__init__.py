"""The market that a process routes on, and where it comes from.

May import `adapters`, `config`, `domain`, `market_settings`, `routing_engine` and `storage`. Begin with `market.py`.
"""

"""The market that a process routes on, and where it comes from.

May import `adapters`, `config`, `domain` and `routing_engine`. Begin with `market.py`.
"""

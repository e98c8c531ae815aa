"""Bridges: a package or a file for each, which names all that it has in one `BRIDGE`; and what they share.

May import `base`, `chain`, `feed`, `http`, `installed`, `routing_engine`, `rpc` and `transactions`. Begin with
`base.py`.
"""

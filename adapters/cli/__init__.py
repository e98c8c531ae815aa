"""Commands that need the network.

May import `base`, `chain`, `feed`, `http`, `routing_engine` and `rpc`. Begin with `commands.py`.
"""

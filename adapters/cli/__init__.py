"""Commands that need the network.

May import `base`, `chain`, `feed`, `http`, `installed`, `routing_engine` and `rpc`. Begin with `commands.py`.
"""

"""Markets read from chains: protocols without input or output, and the one adapter that runs them.

May import `base`, `installed`, `routing_engine` and `rpc`. Begin with `adapter.py`.
"""

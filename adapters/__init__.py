"""Protocol adapters: live rates into snapshots.

May import `routing_engine`. Begin with `base.py`.
"""

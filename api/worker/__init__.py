"""The worker: the one process that does what no request waits for.

May import `adapters`, `context`, `domain`, `services` and `storage`. Begin with `process.py`.
"""

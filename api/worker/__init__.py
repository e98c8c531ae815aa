"""The worker: a process that does what no request waits for. Several may run; each duty has one at a time.

May import `adapters`, `context`, `domain`, `services` and `storage`. Begin with `process.py`.
"""

"""The worker: a process that does what no request waits for. Several share it; each share has one at a time.

May import `adapters`, `context`, `domain`, `services` and `storage`. Begin with `process.py`.
"""

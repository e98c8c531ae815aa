"""Many sources side by side, merged into one snapshot, and shared with other processes.

May import `base`, `http`, `installed` and `routing_engine`. Begin with `feed.py`.
"""

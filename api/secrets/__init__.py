"""The keys with which secrets are encrypted, and the box that uses them.

May import `storage`. Begin with `box.py`.
"""

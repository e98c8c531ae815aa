"""What the page's scripts send, checked before anything reads it.

May import `domain`, `request_body` and `schemas`. Begin with `bodies.py`.
"""

"""What the page's scripts send, checked before anything reads it.

May import `bodies`, `domain` and `schemas`. Begin with `bodies.py`.
"""

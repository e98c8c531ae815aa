"""What requests and answers carry: JSON that may be anything, errors, and events of a stream.

May import `domain` and `storage`. Begin with `errors.py`.
"""

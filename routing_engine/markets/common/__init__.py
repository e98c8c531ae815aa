"""What markets of several kinds share.

May import `curves`, `errors`, `fixed_point`, `model` and `reference`. Begin with `base.py`.
"""

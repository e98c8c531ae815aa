"""What markets of several kinds share.

May import `curves`, `errors`, `fixed_point`, `model`, `reference` and `token_fields`.
Begin with `base.py`.
"""

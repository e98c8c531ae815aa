"""What markets of several kinds share.

May import `curves`, `errors`, `fixed_point`, `market`, `model`, `reference` and `token_fields`. Begin with `base.py`.
"""

"""What a vendor makes for itself: API keys and its brand.

May import `domain`, `schemas.base` and `schemas.fields`. Begin with `api_keys.py`.
"""

"""Ekubo.

May import `fixed_point`. Begin with `swap_loop.py`.
"""

"""The contracts' own arithmetic as pure functions of integers, one module per invariant.

May import `fixed_point` and `model`. Begin with `constant_product.py`.
"""

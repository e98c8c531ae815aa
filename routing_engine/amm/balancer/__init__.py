"""Balancer v1, and the pools of the Balancer v2 vault.

May import `fixed_point`. Begin with `weighted.py`.
"""

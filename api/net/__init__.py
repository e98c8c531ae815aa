"""Requests to addresses that strangers chose.

May import `adapters`, `config` and `domain`. Begin with `client.py`.
"""

"""What is counted over all processes of one port: requests of each caller, and what the operator measures.

May import `config`, `storage` and `web`. Begin with `rate_limits.py`.
"""

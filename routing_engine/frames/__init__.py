"""Answers and markets as tables: for pandas, for whatever reads Arrow, and for a notebook's page.

May import `fixed_point`, `market`, `model` and `token_fields`. Begin with `table.py`.
"""

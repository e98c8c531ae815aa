"""Answers and markets as tables: for pandas, for whatever reads Arrow, and for a notebook's page.

May import `fixed_point`, `market` and `model`. Begin with `table.py`.
"""

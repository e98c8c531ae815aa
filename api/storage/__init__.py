"""Tables, sessions and migrations.

May import `domain`. Begin with `db.py`.
"""

"""Starting the service: what must hold before, and all of it on one machine.

May import `config`, `counting`, `domain`, `services`, `serving` and `storage`. Begin with `up.py`.
"""

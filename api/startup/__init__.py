"""Starting the service: what must hold before, and all of it on one machine.

May import `config`, `counting`, `domain`, `doubtful_settings`, `logs`, `services`, `serving` and `storage`. Begin with
`up.py`.
"""

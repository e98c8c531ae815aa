"""What the service does, between the domain and the database.

May import `adapters`, `bodies`, `config`, `domain`, `market_settings`, `doubtful_settings`, `net`, `routing_engine`,
`secrets`, `setting_values` and `storage`. Begin with `resources.py`.
"""

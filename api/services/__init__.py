"""What the service does, between the domain and the database.

May import `adapters`, `bodies`, `config`, `domain`, `market_settings`, `net`, `routing_engine`, `secrets`, `settings`
and `storage`. Begin with `resources.py`.
"""

"""What the service does, between the domain and the database.

May import `adapters`, `config`, `domain`, `net`, `request_body`, `routing_engine`, `secrets` and `storage`. Begin with
`resources.py`.
"""

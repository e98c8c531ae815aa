"""The port: its processes, the event loop with the streams on it, and the way into the Flask application.

May import `assets`, `blueprints`, `bodies`, `config`, `context`, `counting`, `domain`, `logs`, `misspelt_settings`,
`routing_engine` and `services`. Begin with `server.py`.
"""

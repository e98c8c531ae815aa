"""The port: its processes, the event loop with the streams on it, and the way into the Flask application.

May import `address_settings`, `assets`, `blueprints`, `bodies`, `config`, `context`, `counting`, `domain`, `logs`,
`doubtful_settings`, `routing_engine`, `services` and `setting_values`. Begin with `server.py`.
"""

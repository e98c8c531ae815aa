"""The application on its servers: limits, load, and what strangers can do to it."""

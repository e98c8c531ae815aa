"""The clients in `clients`, against the real service."""

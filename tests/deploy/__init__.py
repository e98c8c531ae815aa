"""The files in `deploy` do what they are there for."""

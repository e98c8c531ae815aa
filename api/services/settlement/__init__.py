"""Which transfer belongs to which order."""

"""Commands that need the network."""

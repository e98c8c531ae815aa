"""The keys with which secrets are encrypted, and the box that uses them."""

"""What of the clients is generated; ``python -m tests.clients.generation`` writes it anew."""

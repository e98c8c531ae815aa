"""What the service does, between the domain and the database."""

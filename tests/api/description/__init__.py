"""What the API says of itself, and that it holds."""

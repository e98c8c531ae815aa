"""What a customer at the checkout needs."""

"""Payment orders: made, stored, shown, cancelled, expired and refunded."""

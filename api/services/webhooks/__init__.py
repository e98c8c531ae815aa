"""Events to their subscribers: the outbox, deliveries and their log."""

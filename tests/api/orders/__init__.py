"""Payment links, orders, refunds: from the request to the answer."""

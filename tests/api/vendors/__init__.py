"""Who may do what: vendors, keys, addresses, secrets."""

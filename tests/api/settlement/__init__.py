"""What becomes of money: chains read, transfers counted, orders ended."""

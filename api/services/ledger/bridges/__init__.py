"""What bridges say in their events: deposits, and what answers them."""

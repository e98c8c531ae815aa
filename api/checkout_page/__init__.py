"""What the checkout page shows: amounts, texts, states and addresses, ready for its templates and scripts."""

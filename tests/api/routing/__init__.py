"""Routes, quotes and tokens, and the market that they are made of."""

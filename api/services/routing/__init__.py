"""Routes, quotes and tokens for the API."""

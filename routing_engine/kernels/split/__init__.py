"""Splits: which paths to use, and how much to send down each."""

"""Blocks held against their own roots."""

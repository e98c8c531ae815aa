"""Lanes: one direction of a bridge each, with its fees, limits and fill times."""

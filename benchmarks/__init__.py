"""Measurements; run with ``make bench``."""

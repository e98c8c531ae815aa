"""Vendors, their keys and their settlement accounts."""

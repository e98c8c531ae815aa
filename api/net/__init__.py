"""Requests to addresses that strangers chose."""

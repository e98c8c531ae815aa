"""Certificates: what no division over routes of few hops can exceed."""

"""Curve's crypto pools."""

"""Curve's StableSwap pools and those that copied them."""

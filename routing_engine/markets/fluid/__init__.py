"""Fluid DEX v1 pools."""

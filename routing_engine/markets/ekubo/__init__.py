"""Ekubo pools."""

"""Chains looked at again and again: new blocks, doubtful ones, and what is awaited."""

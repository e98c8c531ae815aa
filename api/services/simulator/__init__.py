"""Test orders on simulated chains: wallets, a bridge, and what can be made to happen."""

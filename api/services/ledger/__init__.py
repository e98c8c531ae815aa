"""What moved on real chains: from a mined transaction to transfers, and to what proves whose they are."""

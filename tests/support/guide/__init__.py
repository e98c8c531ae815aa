"""What of the merchants' guide is written from the code; ``python -m tests.support.guide`` writes it anew."""

"""Facts about chains and tokens that do not change from block to block."""

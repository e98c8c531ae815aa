"""Many sources side by side, merged into one snapshot, and shared with other processes."""

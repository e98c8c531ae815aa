"""The compiled formula of each curve: one file for each invariant, and the edge that chooses among them."""

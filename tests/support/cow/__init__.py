"""What CoW Protocol's side of a solver engine does: its schema, its checks of a solution, and auctions to solve."""

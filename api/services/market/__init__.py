"""The market that a process routes on, and where it comes from."""

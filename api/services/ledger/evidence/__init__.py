"""Who moved money, and what says so: traces, calldata and signatures."""

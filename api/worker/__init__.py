"""The worker: the one process that does what no request waits for."""

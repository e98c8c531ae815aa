"""Settings, commands and the worker: what an operator has in hand."""

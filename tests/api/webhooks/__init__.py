"""Events and their way to receivers."""

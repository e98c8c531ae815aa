"""What chains say, read so that it can be relied on."""

"""What chains say, and how far they are believed."""

"""What markets of several kinds share."""

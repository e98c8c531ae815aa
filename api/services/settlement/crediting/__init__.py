"""From a transfer to the order that it pays, or to the unmatched ones."""

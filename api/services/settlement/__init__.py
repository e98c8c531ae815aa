"""From what moved on the chains to whose payment it is: matching, crediting, claims, refunds."""

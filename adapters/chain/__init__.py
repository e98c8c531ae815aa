"""Markets read from chains: protocols without input or output, and the one adapter that runs them."""

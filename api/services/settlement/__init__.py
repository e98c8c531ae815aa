"""From blocks to orders: watching chains, crediting what arrives."""

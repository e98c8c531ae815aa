"""From blocks to orders: watching chains, telling whose a payment is, crediting what arrives."""

"""All markets at one moment, what identifies them, and other forms of them."""

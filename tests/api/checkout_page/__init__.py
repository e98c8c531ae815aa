"""The payment page's HTML, and its answers to its scripts."""

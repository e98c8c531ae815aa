"""The payment domain: no web framework, no SQL."""

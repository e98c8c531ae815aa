"""A client for JSON services that may hang, lie, flood or refuse."""

"""What an error of the database is called where its text may not be shown: that may quote a password or a value."""

from __future__ import annotations


def name_fault(error: BaseException) -> str:
    """Return an error's type, with the database's own code for what happened, such as ``SQLITE_FULL`` or ``57P03``."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    return f"{type(cause).__name__} {code}" if code else type(cause).__name__

"""What an error of the database is called where its text may not be shown: that may quote a password or a value."""

from __future__ import annotations

import re

from sqlalchemy import make_url

_REFUSAL = re.compile(r"(?:FATAL|failed):\s+((?:FATAL:)?\s*\S.*)")


def name_fault(error: BaseException) -> str:
    """Return an error's type, with the database's own code for what happened, such as ``SQLITE_FULL`` or ``57P03``."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    return f"{type(cause).__name__} {code}" if code else type(cause).__name__


def tell_refusal(error: BaseException, database_url: str) -> str:
    """Return why PostgreSQL let nobody in, in its own words, for the operator alone; empty where it does not say.

    Of such an error the words are the server's or the system's. A password that is in them nevertheless is left out.
    """
    found = _REFUSAL.search(str(getattr(error, "orig", None) or error).splitlines()[0])
    password = make_url(database_url).password
    text = found[1].replace("FATAL:", "").strip() if found else ""
    return text.replace(password, "…") if password else text

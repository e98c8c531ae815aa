"""What an error of the database is called where its text may not be shown: that may quote a password or a value."""

from __future__ import annotations

import re

from sqlalchemy import make_url

NO_ROOM = ("53100", "58030", "XX000", "SQLITE_FULL")
"""A disk that is full, one that fails, and a quota that is used up. Others, such as a ``temp_file_limit`` or a pool
without a free connection, tell nothing of the disk."""
SECTIONS = {
    "The disk is full": NO_ROOM,
    "It is slow": ("SQLITE_BUSY", "SQLITE_LOCKED", "55P03"),
    "The database's file is gone": ("SQLITE_CANTOPEN",),
}
AWAY = "The database is away"
_REASONS = (
    "Connection refused",
    "No such file or directory",
    "Connection timed out",
    "No route to host",
    "Network is unreachable",
    "could not translate host name",
    "failed to resolve host",
    "server closed the connection",
    "connection is closed",
    "connection is lost",
    "timeout expired",
    "starting up",
    "shutting down",
    "recovery mode",
    "too many clients",
    "password authentication failed",
    "no pg_hba.conf entry",
    "does not exist",
)
"""What PostgreSQL and its driver say of a connection, without the names that stand around it. They give it no code."""
_REFUSAL = re.compile(r"(?:FATAL|failed):\s+((?:FATAL:)?\s*\S.*)")


def name_fault(error: BaseException) -> str:
    """Return an error's type, with the database's own code for what happened, such as ``SQLITE_FULL`` or ``57P03``.

    Where there is none, as nobody answered, it has the reason.
    """
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    told = code or next((reason for reason in _REASONS if reason in str(cause)), "")
    return f"{type(cause).__name__} {told}".rstrip()


def find_section(kind: str) -> str:
    """Return the section of the runbook that is about a fault of this name."""
    return next((section for section, codes in SECTIONS.items() if any(code in kind for code in codes)), AWAY)


def tell_refusal(error: BaseException, database_url: str) -> str:
    """Return why PostgreSQL let nobody in, in its own words, for the operator alone; empty where it does not say.

    Of such an error the words are the server's or the system's. A password that is in them nevertheless is left out.
    """
    found = _REFUSAL.search(str(getattr(error, "orig", None) or error).splitlines()[0])
    password = make_url(database_url).password
    text = found[1].replace("FATAL:", "").strip() if found else ""
    return text.replace(password, "…") if password else text

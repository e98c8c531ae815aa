"""Write down who changed what, in the transaction that changes it, and read it again."""

from __future__ import annotations

import os
import pwd
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction, AuditFilter, Change
from api.domain.clock import format_time
from api.storage.db import BY
from api.storage.tables import AuditEntry, Vendor

LOGIN_UID = Path("/proc/self/loginuid")
"""Who logged in, by the kernel: `sudo` and `runuser` leave it as it is."""
NOBODY = 2**32 - 1
MAX_NAME = 80


def record_change(session: Session, change: Change, at: datetime) -> None:
    """Write a change down; it is kept if and only if the change is."""
    values = {
        "at": at,
        "actor": session.info.get(BY) or name_operator(),
        "action": change.action,
        "vendor_id": change.vendor_id,
        "env_mode": change.env_mode,
        "subject": change.subject,
        "before": dict(change.before),
        "after": dict(change.after),
    }
    session.execute(insert(AuditEntry), [values])


def find_last_before(session: Session, action: AuditAction, subject: str) -> dict[str, Any] | None:
    """Return what was before the last change of this kind; None where none was written down."""
    query = select(AuditEntry.before).where(AuditEntry.action == action, AuditEntry.subject == subject)
    return session.scalar(query.order_by(AuditEntry.id.desc()).limit(1))


def list_changes(session: Session, wanted: AuditFilter, limit: int) -> list[dict[str, Any]]:
    """Describe changes, the newest first."""
    query = select(AuditEntry, Vendor.name).outerjoin(Vendor, Vendor.id == AuditEntry.vendor_id)
    if wanted.vendor_id is not None:
        query = query.where(AuditEntry.vendor_id == wanted.vendor_id)
    if wanted.actions:
        query = query.where(AuditEntry.action.in_(wanted.actions))
    if wanted.since is not None:
        query = query.where(AuditEntry.at >= wanted.since)
    rows = session.execute(query.order_by(AuditEntry.id.desc()).limit(limit))
    return [
        {
            "id": row.id,
            "at": format_time(row.at),
            "actor": row.actor,
            "action": row.action,
            "vendor_id": row.vendor_id,
            "vendor": name,
            "env_mode": row.env_mode,
            "subject": row.subject,
            "before": row.before,
            "after": row.after,
        }
        for row, name in rows
    ]


@cache
def name_operator() -> str:
    """Name the account of the operating system that runs this process, and who logged in where that is another."""
    account, login = _name_account(os.getuid()), _find_login()
    return f"os:{account}" if login in ("", account) else f"os:{account} login:{login}"


def _find_login() -> str:
    """Return who logged in; empty where the kernel does not say. Variables such as `SUDO_USER` anybody may set."""
    try:
        number = int(LOGIN_UID.read_text())
    except (OSError, ValueError):
        number = NOBODY
    return _name_account(number) if number != NOBODY else ""


def _name_account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name[:MAX_NAME]
    except KeyError:
        return str(number)

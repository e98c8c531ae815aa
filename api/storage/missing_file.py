"""What to do where SQLite's file is not there."""

from __future__ import annotations

from pathlib import Path


def is_newly_gone(file: Path) -> bool:
    """Whether a database was there until lately: what it wrote last lies beside its place."""
    log = file.with_name(f"{file.name}-wal")
    return log.exists() and log.stat().st_size > 0


def explain_missing(file: Path) -> str:
    """Return the remedy."""
    if is_newly_gone(file):
        return (
            f'{file.name}-wal says that there was one: touch nothing, and see "The database\'s file is gone" in '
            "docs/runbook.md"
        )
    return "set DATABASE_URL or DATA_DIR as the service has them; where none ever was, run `checkout db upgrade`"

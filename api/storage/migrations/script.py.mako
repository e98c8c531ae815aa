"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}

oldest = ${repr(up_revision)}
"""Oldest revision whose code works once this has run: an earlier one if it only adds (docs/runbook.md)."""


def upgrade() -> None:
    """Apply."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Undo."""
    ${downgrades if downgrades else "pass"}

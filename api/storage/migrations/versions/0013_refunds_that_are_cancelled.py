"""Refunds that are cancelled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from api.storage import types

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None

oldest = '0008'
"""Who knows nothing of it takes a cancelled refund for one that was not signed yet."""


def upgrade() -> None:
    """Apply."""
    op.add_column('refunds', sa.Column('cancelled_at', types.UtcDateTime(), nullable=True))


def downgrade() -> None:
    """Undo."""
    op.drop_column('refunds', 'cancelled_at')

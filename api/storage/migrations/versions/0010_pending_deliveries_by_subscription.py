"""Pending deliveries by subscription."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = '0010'
down_revision = '0009'
branch_labels = None
depends_on = None

oldest = '0008'
"""An index more disturbs nobody."""


def upgrade() -> None:
    """Apply; whoever has made the index before, with CONCURRENTLY, has nothing to wait for."""
    only = sa.text("status = 'pending'")
    op.create_index('ix_webhook_deliveries_pending', 'webhook_deliveries', ['status', 'subscription_id', 'next_attempt_at'], unique=False, if_not_exists=True, sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Undo."""
    op.drop_index('ix_webhook_deliveries_pending', table_name='webhook_deliveries')

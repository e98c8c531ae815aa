"""Transfers by their time."""

from __future__ import annotations

from alembic import op

revision = '0012'
down_revision = '0011'
branch_labels = None
depends_on = None

oldest = '0008'
"""An index more disturbs nobody."""


def upgrade() -> None:
    """Apply; whoever has made the index before, with CONCURRENTLY, has nothing to wait for."""
    op.create_index('ix_payments_env_mode_mined_at_id', 'payments', ['env_mode', 'mined_at', 'id'], unique=False, if_not_exists=True)


def downgrade() -> None:
    """Undo."""
    op.drop_index('ix_payments_env_mode_mined_at_id', table_name='payments')

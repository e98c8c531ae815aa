"""Batches of archived events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from api.storage import types

revision = '0009'
down_revision = '0008'
branch_labels = None
depends_on = None

oldest = '0008'
"""A table more disturbs nobody."""


def upgrade() -> None:
    """Apply."""
    op.create_table('archived_batches',
    sa.Column('name', sa.String(length=128), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('events', sa.Integer(), nullable=False),
    sa.Column('before', types.UtcDateTime(), nullable=False),
    sa.Column('archived_at', types.UtcDateTime(), nullable=False),
    sa.PrimaryKeyConstraint('name', name=op.f('pk_archived_batches'))
    )


def downgrade() -> None:
    """Undo."""
    op.drop_table('archived_batches')

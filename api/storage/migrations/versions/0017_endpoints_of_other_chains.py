"""Endpoints that have said that they are of another chain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = '0017'
down_revision = '0016'
branch_labels = None
depends_on = None

oldest = '0008'
"""A version that knows nothing of it notes such an endpoint as one that does not answer."""


def upgrade() -> None:
    """Apply."""
    op.add_column('watched_endpoints', sa.Column('is_of_chain', sa.Boolean(), server_default=sa.true(), nullable=False))


def downgrade() -> None:
    """Undo."""
    op.drop_column('watched_endpoints', 'is_of_chain')

"""How the endpoints of chains fare."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from api.storage import types

revision = '0011'
down_revision = '0010'
branch_labels = None
depends_on = None

oldest = '0008'
"""A table more disturbs nobody."""


def upgrade() -> None:
    """Apply."""
    op.create_table('watched_endpoints',
    sa.Column('env_mode', sa.String(length=8), nullable=False),
    sa.Column('chain_id', sa.BigInteger(), autoincrement=False, nullable=False),
    sa.Column('place', sa.Integer(), autoincrement=False, nullable=False),
    sa.Column('host', sa.String(length=255), nullable=False),
    sa.Column('answers', sa.Boolean(), nullable=False),
    sa.Column('in_step', sa.Boolean(), nullable=False),
    sa.Column('noted_at', types.UtcDateTime(), nullable=False),
    sa.PrimaryKeyConstraint('env_mode', 'chain_id', 'place', name=op.f('pk_watched_endpoints'))
    )


def downgrade() -> None:
    """Undo."""
    op.drop_table('watched_endpoints')

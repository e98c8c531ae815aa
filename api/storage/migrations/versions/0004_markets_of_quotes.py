"""Markets of quotes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.storage import types

revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table('market_snapshots',
    sa.Column('id', sa.String(length=64), nullable=False),
    sa.Column('base_id', sa.String(length=64), nullable=True),
    sa.Column('body', sa.LargeBinary(), nullable=False),
    sa.Column('kept_until', types.UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['base_id'], ['market_snapshots.id'], name=op.f('fk_market_snapshots_base_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_market_snapshots'))
    )
    op.create_index(op.f('ix_market_snapshots_kept_until'), 'market_snapshots', ['kept_until'], unique=False)


def downgrade() -> None:
    """Undo."""
    op.drop_index(op.f('ix_market_snapshots_kept_until'), table_name='market_snapshots')
    op.drop_table('market_snapshots')

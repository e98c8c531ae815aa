"""What operators and merchants changed, and when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from api.storage import types

revision = '0016'
down_revision = '0015'
branch_labels = None
depends_on = None

oldest = '0008'
"""A version that knows nothing of it writes nothing down."""


def upgrade() -> None:
    """Apply."""
    op.create_table(
        'audit',
        sa.Column('id', types.BigKey, nullable=False),
        sa.Column('at', types.UtcDateTime(), nullable=False),
        sa.Column('actor', sa.String(length=200), nullable=False),
        sa.Column('action', sa.String(length=40), nullable=False),
        sa.Column('vendor_id', sa.String(length=64), nullable=True),
        sa.Column('env_mode', sa.String(length=8), nullable=True),
        sa.Column('subject', sa.String(length=128), nullable=False),
        sa.Column('before', sa.JSON(), nullable=False),
        sa.Column('after', sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(['vendor_id'], ['vendors.id'], name=op.f('fk_audit_vendor_id_vendors')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_audit')),
    )
    op.create_index(op.f('ix_audit_at'), 'audit', ['at'], unique=False)
    op.create_index(op.f('ix_audit_vendor_id_id'), 'audit', ['vendor_id', 'id'], unique=False)


def downgrade() -> None:
    """Undo."""
    op.drop_table('audit')

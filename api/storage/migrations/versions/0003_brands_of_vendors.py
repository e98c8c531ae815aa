"""Brands of vendors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.storage import types

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table('vendor_brands',
    sa.Column('vendor_id', sa.String(length=64), nullable=False),
    sa.Column('env_mode', sa.String(length=8), nullable=False),
    sa.Column('display_name', sa.String(length=100), nullable=False),
    sa.Column('accent_color', sa.String(length=7), nullable=False),
    sa.Column('support', sa.String(length=2048), nullable=False),
    sa.Column('logo_type', sa.String(length=16), nullable=False),
    sa.Column('logo_digest', sa.String(length=64), nullable=False),
    sa.Column('logo', sa.LargeBinary(), nullable=True),
    sa.Column('updated_at', types.UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['vendor_id'], ['vendors.id'], name=op.f('fk_vendor_brands_vendor_id')),
    sa.PrimaryKeyConstraint('vendor_id', 'env_mode', name=op.f('pk_vendor_brands'))
    )
    op.create_index(op.f('ix_vendor_brands_logo_digest'), 'vendor_brands', ['logo_digest'], unique=False)


def downgrade() -> None:
    """Undo."""
    op.drop_index(op.f('ix_vendor_brands_logo_digest'), table_name='vendor_brands')
    op.drop_table('vendor_brands')

"""Which versions work on a schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None

oldest = '0008'
"""Versions before ask for their own revision, and no other."""


def upgrade() -> None:
    """Apply."""
    op.create_table('schema_compatibility',
    sa.Column('revision', sa.String(length=32), nullable=False),
    sa.Column('oldest', sa.String(length=32), nullable=False),
    sa.PrimaryKeyConstraint('revision', name=op.f('pk_schema_compatibility'))
    )


def downgrade() -> None:
    """Undo."""
    op.drop_table('schema_compatibility')

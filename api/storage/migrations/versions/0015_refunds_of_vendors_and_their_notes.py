"""Refunds by their vendor, with a note of it; deliveries that were given up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = '0015'
down_revision = '0014'
branch_labels = None
depends_on = None

oldest = '0008'
"""Who knows nothing of it makes refunds without a vendor; the list of refunds adds that, by the order."""

GIVEN_UP = 'ix_webhook_deliveries_given_up'
OWN, UNOWNED = 'ix_refunds_vendor_id_env_mode_created_at_id', 'ix_refunds_unowned'


def upgrade() -> None:
    """Apply; whoever has made the index of deliveries before, with CONCURRENTLY, has nothing to wait for."""
    op.add_column('refunds', sa.Column('note', sa.Text(), nullable=True))
    op.add_column('refunds', sa.Column('vendor_id', sa.String(length=64), nullable=True))
    op.add_column('refunds', sa.Column('env_mode', sa.String(length=8), nullable=True))
    op.execute(
        'UPDATE refunds SET '
        'vendor_id = (SELECT vendor_id FROM payment_orders WHERE payment_orders.id = refunds.order_id), '
        'env_mode = (SELECT env_mode FROM payment_orders WHERE payment_orders.id = refunds.order_id)'
    )
    op.create_index(OWN, 'refunds', ['vendor_id', 'env_mode', 'created_at', 'id'], unique=False)
    only = sa.text('vendor_id IS NULL')
    op.create_index(UNOWNED, 'refunds', ['id'], unique=False, sqlite_where=only, postgresql_where=only)
    only = sa.text("status IN ('failed', 'cancelled')")
    op.create_index(GIVEN_UP, 'webhook_deliveries', ['subscription_id', 'id'], unique=False, if_not_exists=True, sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Undo."""
    op.drop_index(GIVEN_UP, table_name='webhook_deliveries')
    op.drop_index(UNOWNED, table_name='refunds')
    op.drop_index(OWN, table_name='refunds')
    op.drop_column('refunds', 'env_mode')
    op.drop_column('refunds', 'vendor_id')
    op.drop_column('refunds', 'note')

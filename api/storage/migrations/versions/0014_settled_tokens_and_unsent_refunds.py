"""Orders by the token that they are paid in, and refunds that no chain has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = '0014'
down_revision = '0013'
branch_labels = None
depends_on = None

oldest = '0008'
"""Two indices more disturb nobody."""

TOKENS, UNSENT = 'ix_payment_orders_settled_tokens', 'ix_refunds_unannounced'


def upgrade() -> None:
    """Apply; whoever has made the indices before, with CONCURRENTLY, has nothing to wait for."""
    columns = ['env_mode', 'settlement_chain_id', 'settlement_token_address']
    op.create_index(TOKENS, 'payment_orders', columns, unique=False, if_not_exists=True)
    only = sa.text('NOT is_announced')
    op.create_index(UNSENT, 'refunds', ['order_id'], unique=False, if_not_exists=True, sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Undo."""
    op.drop_index(UNSENT, table_name='refunds')
    op.drop_index(TOKENS, table_name='payment_orders')

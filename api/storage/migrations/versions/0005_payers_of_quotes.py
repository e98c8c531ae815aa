"""Payers of quotes."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None

FIELD = 'payers'
"""Of a quote's body, where they were before."""


def upgrade() -> None:
    """Apply; quotes that were given to wallets a moment ago stay known as theirs."""
    made = op.create_table('quote_payers',
    sa.Column('order_id', sa.String(length=64), nullable=False),
    sa.Column('payer', sa.String(length=42), nullable=False),
    sa.Column('quote_id', sa.String(length=64), nullable=False),
    sa.ForeignKeyConstraint(['quote_id'], ['quotes.id'], name=op.f('fk_quote_payers_quote_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('order_id', 'payer', 'quote_id', name=op.f('pk_quote_payers'))
    )
    op.create_index(op.f('ix_quote_payers_quote_id'), 'quote_payers', ['quote_id'], unique=False)
    quotes = sa.table('quotes', sa.column('id'), sa.column('order_id'), sa.column('body'))
    found = op.get_bind().execute(sa.select(quotes.c.id, quotes.c.order_id, quotes.c.body).where(
        quotes.c.order_id.is_not(None)
    ))
    rows = [
        {'order_id': order_id, 'payer': payer, 'quote_id': quote_id}
        for quote_id, order_id, body in found
        for payer in (json.loads(body) if isinstance(body, str) else body).get(FIELD, ())
    ]
    op.bulk_insert(made, rows)


def downgrade() -> None:
    """Undo."""
    op.drop_index(op.f('ix_quote_payers_quote_id'), table_name='quote_payers')
    op.drop_table('quote_payers')

"""Searches of orders, types of events, and unmatched transfers that vendors are told of."""

from __future__ import annotations

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None

THREE = '["payment_processing", "payment_success", "payment_failed"]'
PORTION = 1000


def upgrade() -> None:
    """Apply."""
    op.create_table('order_metadata',
    sa.Column('digest', sa.LargeBinary(length=32), nullable=False),
    sa.Column('order_id', sa.String(length=64), nullable=False),
    sa.ForeignKeyConstraint(['order_id'], ['payment_orders.id'], name=op.f('fk_order_metadata_order_id')),
    sa.PrimaryKeyConstraint('digest', 'order_id', name=op.f('pk_order_metadata'))
    )
    _index_metadata()
    op.create_index(op.f('ix_payment_orders_vendor_id_env_mode_status_id'), 'payment_orders', ['vendor_id', 'env_mode', 'status', 'id'], unique=False)
    op.create_index(op.f('ix_payment_orders_vendor_id_env_mode_updated_at'), 'payment_orders', ['vendor_id', 'env_mode', 'updated_at'], unique=False)
    op.create_index(op.f('ix_payments_tx_hash'), 'payments', ['tx_hash'], unique=False)
    op.create_index(op.f('ix_payments_sender'), 'payments', ['sender'], unique=False)
    # What was there before is not told as if it had just happened.
    op.add_column('payments', sa.Column('is_announced', sa.Boolean(), server_default=sa.true(), nullable=False))
    op.add_column('refunds', sa.Column('is_announced', sa.Boolean(), server_default=sa.true(), nullable=False))
    for name, columns, condition in (
        ('ix_payments_unmatched', ['recipient', 'public_id'], 'order_id IS NULL'),
        ('ix_payments_unannounced', ['env_mode', 'chain_id'], 'order_id IS NULL AND NOT is_announced'),
    ):
        only = sa.text(condition)
        op.create_index(name, 'payments', columns, unique=False, sqlite_where=only, postgresql_where=only)
    op.add_column('events', sa.Column('transfer_id', sa.String(length=64), nullable=True))
    op.create_index(op.f('ix_events_vendor_id_env_mode_type_seq'), 'events', ['vendor_id', 'env_mode', 'type', 'seq'], unique=False)
    op.add_column('webhook_subscriptions', sa.Column('events', sa.JSON(), server_default=sa.text(f"'{THREE}'"), nullable=False))


def downgrade() -> None:
    """Undo."""
    op.execute("DELETE FROM webhook_attempts WHERE delivery_id IN (SELECT id FROM webhook_deliveries WHERE event_id IN (SELECT id FROM events WHERE transfer_id IS NOT NULL))")
    op.execute("DELETE FROM webhook_deliveries WHERE event_id IN (SELECT id FROM events WHERE transfer_id IS NOT NULL)")
    op.execute("DELETE FROM events WHERE transfer_id IS NOT NULL")
    op.drop_column('webhook_subscriptions', 'events')
    op.drop_index(op.f('ix_events_vendor_id_env_mode_type_seq'), table_name='events')
    op.drop_column('events', 'transfer_id')
    op.drop_index('ix_payments_unannounced', table_name='payments')
    op.drop_index('ix_payments_unmatched', table_name='payments')
    op.drop_column('refunds', 'is_announced')
    op.drop_column('payments', 'is_announced')
    op.drop_index(op.f('ix_payments_sender'), table_name='payments')
    op.drop_index(op.f('ix_payments_tx_hash'), table_name='payments')
    op.drop_index(op.f('ix_payment_orders_vendor_id_env_mode_updated_at'), table_name='payment_orders')
    op.drop_index(op.f('ix_payment_orders_vendor_id_env_mode_status_id'), table_name='payment_orders')
    op.drop_table('order_metadata')


def _index_metadata() -> None:
    """Note the metadata of the orders that are there already."""
    orders = sa.table('payment_orders', sa.column('id'), sa.column('vendor_id'), sa.column('env_mode'), sa.column('metadata', sa.JSON))
    entries = sa.table('order_metadata', sa.column('digest', sa.LargeBinary), sa.column('order_id'))
    connection, last = op.get_bind(), ''
    while rows := connection.execute(sa.select(orders).where(orders.c.id > last).order_by(orders.c.id).limit(PORTION)).all():
        last = rows[-1].id
        found = [
            {'digest': _hash(row.vendor_id, row.env_mode, key, value), 'order_id': row.id}
            for row in rows
            for key, value in row.metadata.items()
            if value is None or isinstance(value, str | int | float)
        ]
        if found:
            connection.execute(sa.insert(entries), found)


def _hash(vendor_id: str, env_mode: str, key: str, value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value)
    return hashlib.sha256(json.dumps([vendor_id, env_mode, key, text]).encode()).digest()

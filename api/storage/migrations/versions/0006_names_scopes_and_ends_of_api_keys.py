"""Names, scopes and ends of API keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.storage import types

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None

ADDED = ('name', 'scopes', 'expires_at', 'last_used_at')


def upgrade() -> None:
    """Apply; keys that were there may do what they could. What a statement forgets to say gives no right."""
    op.add_column('api_keys', sa.Column('name', sa.String(length=100), server_default='default', nullable=False))
    op.add_column('api_keys', sa.Column('scopes', sa.String(length=200), server_default='', nullable=False))
    op.add_column('api_keys', sa.Column('expires_at', types.UtcDateTime(), nullable=True))
    op.add_column('api_keys', sa.Column('last_used_at', types.UtcDateTime(), nullable=True))
    op.execute("UPDATE api_keys SET scopes = 'read orders refunds webhooks'")


def downgrade() -> None:
    """Undo; keys that could do less, or had an end, stop working: without both they could do too much."""
    op.execute(
        "UPDATE api_keys SET revoked_at = created_at WHERE revoked_at IS NULL"
        " AND (expires_at IS NOT NULL OR scopes <> 'read orders refunds webhooks')"
    )
    for name in ADDED:
        op.drop_column('api_keys', name)

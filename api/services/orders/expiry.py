"""Let orders expire."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.services.orders.money import NO_MONEY, load_money
from api.services.orders.store import lock_orders, settle
from api.services.resources import Resources
from api.storage.tables import PaymentOrder, WatchCursor

GRACE = timedelta(seconds=60)
"""How long an expired order waits for chains that have not been read up to its expiry: a payment may be on them."""

BATCH = 200


def expire_orders(resources: Resources) -> None:
    """End the orders whose time is over: unpaid ones expire, those paid short fail."""
    for env_mode in EnvMode:
        before = _find_horizon(resources, env_mode)
        after = ""
        while ids := _list_due(resources, env_mode, before, after):
            for order_id in ids:
                _expire(resources, order_id)
            after = ids[-1]


def _find_horizon(resources: Resources, env_mode: EnvMode) -> datetime:
    """Return the moment up to which all payments of an environment are known, or are waited for no longer."""
    query = select(func.min(WatchCursor.mined_at)).where(WatchCursor.env_mode == env_mode)
    with resources.database.read() as session:
        read_up_to = session.scalar(query)
    now = resources.clock.now()
    return now - GRACE if read_up_to is None else min(now, max(read_up_to, now - GRACE))


def _list_due(resources: Resources, env_mode: EnvMode, before: datetime, after: str) -> list[str]:
    query = select(PaymentOrder.id).where(
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        PaymentOrder.expires_at <= before,
        PaymentOrder.env_mode == env_mode,
        PaymentOrder.id > after,
    )
    with resources.database.read() as session:
        return list(session.scalars(query.order_by(PaymentOrder.id).limit(BATCH)))


def _expire(resources: Resources, order_id: str) -> None:
    with resources.database.write() as session:
        order = lock_orders(session, [order_id])[order_id]
        settle(session, order, load_money(session, [order_id]).get(order_id, NO_MONEY), resources.clock.now())

"""Let orders expire."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, or_, select

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.services.orders.money import NO_MONEY, load_money
from api.services.orders.store import lock_orders, settle
from api.services.resources import Resources
from api.storage.statements import Statement
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
    with resources.database.look() as connection:
        ((read_up_to,),) = _READ_UP_TO.fetch(connection, {"env_mode": env_mode})
    now = resources.clock.now()
    return now - GRACE if read_up_to is None else min(now, max(read_up_to, now - GRACE))


def _list_due(resources: Resources, env_mode: EnvMode, before: datetime, after: str) -> list[str]:
    with resources.database.look() as connection:
        rows = _DUE.fetch(connection, {"env_mode": env_mode, "before": before, "after": after})
    return [row.id for row in rows]


def _expire(resources: Resources, order_id: str) -> None:
    with resources.database.write() as session:
        order = lock_orders(session, [order_id])[order_id]
        settle(session, order, load_money(session, [order_id]).get(order_id, NO_MONEY), resources.clock.now())


_READ_UP_TO = Statement(
    select(func.min(WatchCursor.mined_at)).where(
        WatchCursor.env_mode == bindparam("env_mode", type_=WatchCursor.env_mode.type)
    )
)
_DUE = Statement(
    select(PaymentOrder.id)
    .where(
        or_(PaymentOrder.status == OrderStatus.CREATED, PaymentOrder.status == OrderStatus.PROCESSING),
        PaymentOrder.expires_at <= bindparam("before", type_=PaymentOrder.expires_at.type),
        PaymentOrder.env_mode == bindparam("env_mode", type_=PaymentOrder.env_mode.type),
        PaymentOrder.id > bindparam("after", type_=PaymentOrder.id.type),
    )
    .order_by(PaymentOrder.id)
    .limit(BATCH)
)

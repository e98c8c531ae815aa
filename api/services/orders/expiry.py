"""Let orders expire, and let those fail that were paid short: each once the chains are known up to its end.

An order that expired takes a payment that was mined in time whenever it is found. One that has failed takes none any
more, so for that every chain is waited for that may hold a payment of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, and_, bindparam, or_, select

from api.domain.env import EnvMode
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.services.orders.money import NO_MONEY, load_money
from api.services.orders.store import lock_orders, settle
from api.services.resources import Resources
from api.storage.statements import Statement
from api.storage.tables import PaymentOrder, WatchCursor

GRACE = timedelta(seconds=60)
"""How long an unpaid order waits for chains that have not been read up to its expiry: a payment may be on them."""
PATIENCE = LATE_WINDOW
"""How long an order that was paid short waits for them: as long as money that comes late is taken at all."""

BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """Up to which moment all payments of an environment are known, or are waited for no longer.

    Parameters
    ----------
    expired : datetime
        For orders that nobody has paid.
    failed : datetime
        For those that were paid short.
    away : datetime
        Likewise, where the merchant receives on a chain that is not connected.
    chain_ids : frozenset of int
        Those that are.
    """

    expired: datetime
    failed: datetime
    away: datetime
    chain_ids: frozenset[int]

    def find_known(self, order: PaymentOrder) -> datetime:
        """Return up to which moment is known what was paid for an order."""
        return self.failed if order.settlement_chain_id in self.chain_ids else self.away


def expire_orders(resources: Resources) -> None:
    """End the orders whose time is over: unpaid ones expire, those paid short fail."""
    for env_mode in EnvMode:
        horizon = _find_horizon(resources, env_mode)
        after = ""
        while ids := _list_due(resources, env_mode, horizon, after):
            for order_id in ids:
                _expire(resources, order_id, horizon)
            after = ids[-1]


def _find_horizon(resources: Resources, env_mode: EnvMode) -> Horizon:
    ledger, now = resources.ledgers.get(env_mode), resources.clock.now()
    chain_ids = frozenset(ledger.chain_ids) if ledger is not None else frozenset[int]()
    with resources.database.look() as connection:
        rows = _CURSORS.fetch(connection, {"env_mode": env_mode})
    read = {row.chain_id: row.mined_at for row in rows if row.chain_id in chain_ids}
    read_up_to, away = min(read.values(), default=now - GRACE), now - PATIENCE
    return Horizon(
        expired=min(now, max(read_up_to, now - GRACE)),
        failed=min(now, max(read_up_to, away)) if chain_ids and chain_ids == read.keys() else away,
        away=away,
        chain_ids=chain_ids,
    )


def _list_due(resources: Resources, env_mode: EnvMode, horizon: Horizon, after: str) -> list[str]:
    values = {"env_mode": env_mode, "expired": horizon.expired, "failed": horizon.failed, "after": after}
    with resources.database.look() as connection:
        return [row.id for row in _DUE.fetch(connection, values)]


def _expire(resources: Resources, order_id: str, horizon: Horizon) -> None:
    with resources.database.write() as session:
        order = lock_orders(session, [order_id])[order_id]
        money = load_money(session, [order_id]).get(order_id, NO_MONEY)
        settle(session, order, money, resources.clock.now(), known_until=horizon.find_known(order))


def _build_moment(name: str) -> BindParameter[datetime]:
    return bindparam(name, type_=PaymentOrder.expires_at.type)


_CURSORS = Statement(
    select(WatchCursor.chain_id, WatchCursor.mined_at).where(
        WatchCursor.env_mode == bindparam("env_mode", type_=WatchCursor.env_mode.type)
    )
)
_DUE = Statement(
    select(PaymentOrder.id)
    .where(
        or_(
            and_(PaymentOrder.status == OrderStatus.CREATED, PaymentOrder.expires_at <= _build_moment("expired")),
            and_(PaymentOrder.status == OrderStatus.PROCESSING, PaymentOrder.expires_at <= _build_moment("failed")),
        ),
        PaymentOrder.env_mode == bindparam("env_mode", type_=PaymentOrder.env_mode.type),
        PaymentOrder.id > bindparam("after", type_=PaymentOrder.id.type),
    )
    .order_by(PaymentOrder.id)
    .limit(BATCH)
)

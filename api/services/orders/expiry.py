"""Let orders expire, and let those fail that were paid short: each once the chains are known up to its end.

An order that expired takes a payment that was mined in time whenever it is found. One that has failed takes none any
more, so for that every chain is waited for that may hold a payment of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.orders import LATE_WINDOW, OrderStatus, find_end
from api.domain.payments import PaymentState
from api.services.orders.money import NO_MONEY, Money, load_money, sum_funds
from api.services.orders.store import get_state, lock_orders, settle
from api.services.resources import Resources
from api.storage.statements import Statement
from api.storage.tables import DoubtfulBlock, Payment, PaymentOrder, WatchCursor

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

    def find_known(self, order: PaymentOrder, *, is_doubtful: bool) -> datetime:
        """Return up to which moment is known what was paid for an order."""
        return self.away if is_doubtful or order.settlement_chain_id not in self.chain_ids else self.failed


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
        known = horizon.find_known(order, is_doubtful=_is_doubtful(session, order, money))
        settle(session, order, money, resources.clock.now(), known_until=known)


def _is_doubtful(session: Session, order: PaymentOrder, money: Money) -> bool:
    """Whether it is not known yet what blocks of an order's time hold, or whether a payment of it is one.

    Endpoints tell different things of these, or one has kept something back (ADR 147).
    """
    block = select(DoubtfulBlock.number).where(
        DoubtfulBlock.env_mode == order.env_mode,
        DoubtfulBlock.noted_at >= order.created_at - GRACE,
        DoubtfulBlock.noted_at <= find_end(get_state(order), sum_funds(order, money)),
    )
    payment = select(Payment.id).where(Payment.order_id == order.id, Payment.state == PaymentState.DISPUTED)
    return any(session.scalar(query.limit(1)) is not None for query in (block, payment))


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

"""How long payments take: what the last ones of the same kind took that this service has seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session, aliased, load_only

from api.domain.confirmations import UNKNOWN_BLOCK_TIME_S, count_finality_blocks
from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.services.orders.worth import price_in_dollars
from api.services.resources import Resources
from api.storage.tables import Payment, PaymentOrder, TimelineEntry
from routing_engine.reference.chains import CHAINS

SAMPLES = 25
"""Payments that the expectation rests on, the latest."""
ENOUGH = 3
"""Fewer than these are no experience yet."""
RECENT = 5_000
"""Transfers of this service, the latest, among which they are looked for: so a look never reads a whole table."""
KEEP = timedelta(minutes=1)
LOOK_S = 2
"""About how long it takes this service to notice what a chain has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One way over a bridge.

    Parameters
    ----------
    bridge : str
        Name of its protocol.
    """

    bridge: str
    from_chain_id: int
    to_chain_id: int


def expect_fill_s(resources: Resources, env_mode: EnvMode, lane: Lane, quoted_s: int | None) -> int | None:
    """Return how long a bridge takes from the deposit's block to that of the delivery.

    Parameters
    ----------
    quoted_s : int or None
        What the quote said, which counts until there is experience; None where there is none.
    """

    def learn() -> int | None:
        with resources.database.read() as session:
            return _take_median(_list_fills(session, env_mode, lane))

    known = resources.memory.recall((env_mode, lane), resources.clock.now(), KEEP, learn)
    return quoted_s if known is None else known


def expect_confirmation_s(resources: Resources, env_mode: EnvMode, chain_id: int, dollars: int | None) -> int:
    """Return how long a payment of such a value waits on its chain, from its block until its order succeeds.

    Parameters
    ----------
    dollars : int or None
        The order's price; None where nobody vouches for it.
    """
    blocks = resources.config.confirmations.count_blocks(chain_id, dollars)

    def learn() -> int | None:
        with resources.database.read() as session:
            return _take_median(_list_confirmations(resources, session, env_mode, chain_id, blocks))

    known = resources.memory.recall((env_mode, chain_id, blocks), resources.clock.now(), KEEP, learn)
    return _estimate_confirmation_s(chain_id, blocks) if known is None else known


def _estimate_confirmation_s(chain_id: int, blocks: int | None) -> int:
    chain = CHAINS.get(chain_id)
    block_time_s = chain.block_time_s if chain else UNKNOWN_BLOCK_TIME_S
    return math.ceil((count_finality_blocks(chain_id) if blocks is None else blocks) * block_time_s) + LOOK_S


def _take_median(spans: Iterable[timedelta]) -> int | None:
    """Return the median of the first `SAMPLES`, in seconds; None if they are fewer than `ENOUGH`."""
    seconds = [each.total_seconds() for each, _ in zip(spans, range(SAMPLES), strict=False)]
    return max(1, math.ceil(median(seconds))) if len(seconds) >= ENOUGH else None


def _list_fills(session: Session, env_mode: EnvMode, lane: Lane) -> Iterable[timedelta]:
    deposit, delivery = aliased(Payment), aliased(Payment)
    is_answer = and_(
        delivery.order_id == deposit.order_id,
        delivery.source_tx_hash == deposit.tx_hash,
        delivery.kind == TransferKind.PAYMENT,
        delivery.chain_id == lane.to_chain_id,
        delivery.state.not_in(GONE),
    )
    query = (
        select(deposit.mined_at, delivery.mined_at)
        .join(delivery, is_answer)
        .where(
            deposit.id > select(func.max(Payment.id)).scalar_subquery() - RECENT,
            deposit.env_mode == env_mode,
            deposit.chain_id == lane.from_chain_id,
            deposit.kind == TransferKind.DEPOSIT,
            deposit.state.not_in(GONE),
            deposit.bridge_id.startswith(f"{lane.bridge}:", autoescape=True),
        )
        .order_by(deposit.id.desc())
        .limit(SAMPLES)
    )
    return [filled - deposited for deposited, filled in session.execute(query) if filled >= deposited]


def _list_confirmations(
    resources: Resources, session: Session, env_mode: EnvMode, chain_id: int, blocks: int | None
) -> Iterable[timedelta]:
    """List how long payments waited that had to lie as deep: from the last block of each order until it succeeded."""
    last = (
        select(Payment.order_id, func.max(Payment.mined_at).label("mined_at"), func.max(Payment.id).label("id"))
        .where(
            Payment.id > select(func.max(Payment.id)).scalar_subquery() - RECENT,
            Payment.env_mode == env_mode,
            Payment.chain_id == chain_id,
            Payment.kind == TransferKind.PAYMENT,
            Payment.is_after_close.is_(False),
            Payment.state.not_in(GONE),
            Payment.order_id.is_not(None),
        )
        .group_by(Payment.order_id)
        .order_by(func.max(Payment.id).desc())
        .limit(4 * SAMPLES)
        .subquery()
    )
    needed = (PaymentOrder.settlement_amount, PaymentOrder.settlement_token_symbol)
    query = (
        select(last.c.mined_at, TimelineEntry.at, PaymentOrder)
        .join(TimelineEntry, TimelineEntry.order_id == last.c.order_id)
        .join(PaymentOrder, PaymentOrder.id == last.c.order_id)
        .options(load_only(*needed, PaymentOrder.settlement_token_decimals))
        .where(TimelineEntry.status == OrderStatus.SUCCESS)
        .order_by(last.c.id.desc(), TimelineEntry.id)
    )
    count = resources.config.confirmations.count_blocks
    waited: dict[str, timedelta] = {}
    for mined_at, succeeded_at, order in session.execute(query):
        if succeeded_at >= mined_at and count(chain_id, price_in_dollars(order)) == blocks:
            waited.setdefault(order.id, succeeded_at - mined_at)
    return waited.values()

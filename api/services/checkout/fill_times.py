"""How long payments take: what the last ones of the same kind took that this service has seen.

Whoever pays can make a payment slow, and a vendor who pays itself many of them. So an order speaks once, with what was
built for it, the vendors have one voice each, and what is learnt exceeds what is known without it by a factor at most.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import NamedTuple

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session, aliased, load_only

from api.domain.confirmations import SIMULATED_FINAL_AFTER_S, UNKNOWN_BLOCK_TIME_S, count_finality_blocks
from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.services.orders.worth import price_in_dollars
from api.services.resources import Resources
from api.storage.tables import Payment, PaymentOrder, TimelineEntry
from routing_engine.reference.chains import CHAINS

SAMPLES = 25
"""Orders of each vendor that the expectation rests on, the latest."""
MOST_LOOKED_AT = 1_000
"""Payments of the same kind among which they are looked for: so many have to be made before no other is seen."""
MOST_TIMES = 10
"""What is learnt is at most so many times what a quote or a chain's pace says."""
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


class Span(NamedTuple):
    """How long one order's payment took."""

    vendor_id: str
    order_id: str
    lasted: timedelta


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
    if known is None or quoted_s is None:
        return quoted_s if known is None else known
    return min(known, MOST_TIMES * quoted_s)


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
    estimated = _estimate_confirmation_s(chain_id, blocks)
    if resources.is_simulated(env_mode):
        estimated = min(estimated, SIMULATED_FINAL_AFTER_S + LOOK_S)
    return estimated if known is None else min(known, MOST_TIMES * estimated)


def _estimate_confirmation_s(chain_id: int, blocks: int | None) -> int:
    chain = CHAINS.get(chain_id)
    block_time_s = chain.block_time_s if chain else UNKNOWN_BLOCK_TIME_S
    return math.ceil((count_finality_blocks(chain_id) if blocks is None else blocks) * block_time_s) + LOOK_S


def _take_median(spans: Iterable[Span]) -> int | None:
    """Return the median of vendors' medians, in seconds; None if there are fewer orders than `ENOUGH`.

    Parameters
    ----------
    spans : iterable of Span
        The latest first; an order's first one counts.
    """
    told: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for span in spans:
        orders = told[span.vendor_id]
        if len(orders) < SAMPLES:
            orders.setdefault(span.order_id, span.lasted.total_seconds())
    if sum(map(len, told.values())) < ENOUGH:
        return None
    return max(1, math.ceil(median(median(orders.values()) for orders in told.values())))


def _list_fills(session: Session, env_mode: EnvMode, lane: Lane) -> Iterator[Span]:
    deposit, delivery = aliased(Payment), aliased(Payment)
    is_answer = and_(
        delivery.order_id == deposit.order_id,
        delivery.source_tx_hash == deposit.tx_hash,
        delivery.kind == TransferKind.PAYMENT,
        delivery.chain_id == lane.to_chain_id,
        delivery.state.not_in(GONE),
    )
    query = (
        select(PaymentOrder.vendor_id, PaymentOrder.id, deposit.mined_at, delivery.mined_at)
        .join(delivery, is_answer)
        .join(PaymentOrder, PaymentOrder.id == deposit.order_id)
        .where(
            deposit.id > select(func.max(Payment.id)).scalar_subquery() - RECENT,
            deposit.env_mode == env_mode,
            deposit.chain_id == lane.from_chain_id,
            deposit.kind == TransferKind.DEPOSIT,
            deposit.is_built,
            deposit.state.not_in(GONE),
            deposit.bridge_id.startswith(f"{lane.bridge}:", autoescape=True),
        )
        .order_by(deposit.id.desc())
        .limit(MOST_LOOKED_AT)
    )
    for vendor_id, order_id, deposited, filled in session.execute(query):
        if filled >= deposited:
            yield Span(vendor_id, order_id, filled - deposited)


def _list_confirmations(
    resources: Resources, session: Session, env_mode: EnvMode, chain_id: int, blocks: int | None
) -> Iterator[Span]:
    """Yield how long payments waited that had to lie as deep: from the last block of each order until it succeeded."""
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
        .limit(MOST_LOOKED_AT)
        .subquery()
    )
    needed = (PaymentOrder.vendor_id, PaymentOrder.settlement_amount, PaymentOrder.settlement_token_symbol)
    query = (
        select(last.c.mined_at, TimelineEntry.at, PaymentOrder)
        .join(TimelineEntry, TimelineEntry.order_id == last.c.order_id)
        .join(PaymentOrder, PaymentOrder.id == last.c.order_id)
        .options(load_only(*needed, PaymentOrder.settlement_token_decimals))
        .where(TimelineEntry.status == OrderStatus.SUCCESS)
        .order_by(last.c.id.desc(), TimelineEntry.id)
    )
    count = resources.config.confirmations.count_blocks
    for mined_at, succeeded_at, order in session.execute(query):
        if succeeded_at >= mined_at and count(chain_id, price_in_dollars(order)) == blocks:
            yield Span(order.vendor_id, order.id, succeeded_at - mined_at)

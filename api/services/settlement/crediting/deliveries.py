"""What bridges delivered, in line with the deposits that it answers: whoever's a deposit is, its delivery is too.

A delivery belongs to an order only while a deposit of that order stands: one that its chain has, that its endpoints
don't contradict each other about, and that names the order. It is brought in line in each look that shows one of the
two, on whichever chain. So it matters neither which of them was seen first, nor what has become of the other since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.payments import GONE, Evidence
from api.domain.transfers import DELIVERIES, Transfer, TransferKind
from api.services.settlement.crediting.checking import is_backed
from api.services.settlement.crediting.observation import Assessment
from api.services.settlement.crediting.ownership import count_anew, give, release
from api.storage.tables import Payment

log = structlog.get_logger(__name__)


def list_bridge_ids(rows: Iterable[Payment | Transfer]) -> frozenset[str]:
    """Return the identities of what went into bridges and came out of them."""
    return frozenset(row.bridge_id for row in rows if row.bridge_id)


def load_bridged(session: Session, env_mode: EnvMode, bridge_ids: Collection[str]) -> list[Payment]:
    """Return the deposits of these identities as they are now, and the deliveries, which are locked."""
    if not bridge_ids:
        return []
    query = select(Payment).where(Payment.bridge_id.in_(bridge_ids), Payment.env_mode == env_mode)
    query = query.order_by(Payment.id).execution_options(populate_existing=True)
    deliveries = session.scalars(query.where(Payment.kind.in_(DELIVERIES)).with_for_update(key_share=True)).all()
    return [*session.scalars(query.where(Payment.kind == TransferKind.DEPOSIT)), *deliveries]


def align_deliveries(
    session: Session,
    bridge_ids: Collection[str],
    assessment: Assessment,
) -> None:
    """Give each delivery to the order whose deposit it answers, and take it from one whose deposit is gone.

    What concerns an order that is not locked, since it was written down in between, waits for the next look.
    """
    rows = load_bridged(session, assessment.observation.env_mode, bridge_ids)
    strange = {row.bridge_id for row in rows if row.order_id is not None and row.order_id not in assessment.orders}
    rows = [row for row in rows if row.bridge_id not in strange]
    deposits = pair_deliveries(rows, assessment)
    for row in _select_deliveries(rows):
        deposit = deposits.get(row.id)
        if _is_settled(row):
            continue
        if deposit is not None:
            _follow(row, deposit, assessment)
        elif row.order_id is not None:
            log.warning("delivery_released", chain_id=row.chain_id, tx_hash=row.tx_hash, order_id=row.order_id)
            release(row, assessment.now)
            row.is_rejected = False


def pair_deliveries(rows: Sequence[Payment], assessment: Assessment) -> Mapping[int, Payment]:
    """Return the deposit that each delivery answers, by the delivery's key; each deposit is answered once.

    Of deposits alike, such as two equal burns, or one that is real and one that was made up, those come first for which
    enough speaks. Else a delivery stays where it is.
    """
    left = [row for row in rows if row.kind == TransferKind.DEPOSIT and row.order_id and row.state not in GONE]

    def rank(row: Payment) -> tuple[bool, bool, bool, int]:
        held = [each for each in left if _is_of(row, each)]
        return not _is_settled(row), not any(is_backed(row, each, assessment) for each in held), not held, row.id

    found: dict[int, Payment] = {}
    for row in sorted(_select_deliveries(rows), key=rank):
        fits = [each for each in left if each.bridge_id == row.bridge_id and _may_answer(row, each, assessment)]
        if fits:
            found[row.id] = min(
                fits, key=lambda each: (not is_backed(row, each, assessment), not _is_of(row, each), each.id)
            )
            left.remove(found[row.id])
    return found


def _follow(row: Payment, deposit: Payment, assessment: Assessment) -> None:
    if row.order_id != deposit.order_id:
        give(row, assessment.orders.get(deposit.order_id or ""), Evidence.BRIDGE, assessment.now)
    elif not _is_of(row, deposit) and not is_backed(row, deposit, assessment):
        count_anew(row)
    row.source_chain_id, row.source_tx_hash = deposit.chain_id, deposit.tx_hash
    row.is_rejected = deposit.is_rejected


def _select_deliveries(rows: Iterable[Payment]) -> list[Payment]:
    return [row for row in rows if row.kind in DELIVERIES and row.state not in GONE]


def _is_settled(row: Payment) -> bool:
    """Whether somebody has said whose a delivery is: that stays, whatever becomes of its deposit."""
    return row.order_id is not None and row.evidence != Evidence.BRIDGE


def _is_of(row: Payment, deposit: Payment) -> bool:
    """Whether a delivery is credited for this deposit already."""
    source = (row.order_id, row.source_chain_id, row.source_tx_hash)
    return source == (deposit.order_id, deposit.chain_id, deposit.tx_hash)


def _may_answer(row: Payment, deposit: Payment, assessment: Assessment) -> bool:
    """Whether a delivery has reached the merchant of a deposit's order, or nobody's merchant at all."""
    order = assessment.orders.get(deposit.order_id or "")
    return order is not None and (row.kind != TransferKind.PAYMENT or row.recipient == order.settlement_address)

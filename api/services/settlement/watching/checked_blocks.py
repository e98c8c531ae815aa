"""The blocks of payments that a chain may still take back, or that count soon: each look asks the chain about them."""

from __future__ import annotations

from sqlalchemy import ColumnElement, bindparam, or_, select

from api.domain.payments import CHECKED, Evidence, PaymentState
from api.domain.transfers import DELIVERIES
from api.services.settlement.watching.watched_chain import WatchedChain
from api.storage.statements import Place, Statement
from api.storage.tables import Payment


def list_due_and_checked(chain: WatchedChain, place: Place) -> tuple[set[int], set[int]]:
    """Return the blocks by which a payment may count or become final now, and those of all that can still be lost.

    As long as the cursor's block is canonical so is everything below it; what waits for nothing but time is not asked
    about again.
    """
    statement = _WITH_ONE_ENDPOINT if chain.ledger.count_endpoints(chain.chain_id) == 1 else _WITH_SEVERAL
    deepest, final = chain.resources.config.confirmations.deepest, chain.head.final_number
    due, checked = set(), set()
    for row in statement.fetch(place, {"env_mode": chain.env_mode, "chain_id": chain.chain_id}):
        if row.block_number is not None:
            checked.add(row.block_number)
            is_shallow = row.state == PaymentState.SEEN and row.confirmations < deepest
            is_final = final is not None and row.block_number <= final
            if is_final or not row.has_proof or row.waits or is_shallow:
                due.add(row.block_number)
    return due, checked


def _select_checked(has_proof: ColumnElement[bool]) -> Statement:
    """Select what is checked; `has_proof` says that no more has to be asked about a payment."""
    # It may count as soon as more is known of another chain: a bridge has delivered it.
    waits = (Payment.state == PaymentState.SEEN) & (Payment.evidence == Evidence.BRIDGE)
    is_delivery = or_(*(Payment.kind == each for each in sorted(DELIVERIES)))
    return Statement(
        select(Payment.block_number, Payment.confirmations, Payment.state)
        .add_columns(has_proof.label("has_proof"), (waits & is_delivery).label("waits"))
        .where(
            or_(*(Payment.state == each for each in sorted(CHECKED))),
            Payment.chain_id == bindparam("chain_id", type_=Payment.chain_id.type),
            Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
        )
        .distinct()
    )


_HAS_ONE = Payment.has_receipt_proof | Payment.has_second_opinion
_WITH_ONE_ENDPOINT = _select_checked(_HAS_ONE)
_WITH_SEVERAL = _select_checked(  # one proof is enough for what counts already
    _HAS_ONE & (Payment.state == PaymentState.CONFIRMED) | Payment.has_receipt_proof & Payment.has_second_opinion
)

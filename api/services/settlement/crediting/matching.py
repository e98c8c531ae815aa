"""Whose a transfer is: by the call that moved the money and who made it, or by the deposit that a bridge answers.

An amount proves nothing, and neither does what somebody says about somebody else's transaction; see docs/settlement.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.payments import Evidence
from api.domain.transfers import Transfer, TransferKind
from api.services.settlement.crediting.open_deposits import OpenDeposits
from api.storage.tables import PaymentOrder, Refund

AT_ONCE = 5_000
"""References in one question to the database; no driver takes more than 65,535 values in a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What was found out about a transfer.

    Parameters
    ----------
    transfer : Transfer
        Completed by the deposit that it answers.
    order_id : str or None
        The order that it names.
    evidence : Evidence
        Why it counts for that order; none where it does not.
    refund_id : int or None
        Of what a merchant sent back: as which refund.
    """

    transfer: Transfer
    order_id: str | None = None
    evidence: Evidence = Evidence.NONE
    refund_id: int | None = None


def match_transfers(
    session: Session,
    env_mode: EnvMode,
    transfers: Sequence[Transfer],
    recipients: Collection[str],
) -> list[Match]:
    """Return what each transfer is meant for; those that concern nobody here are left out.

    What a bridge delivered is nobody's by itself: `align_deliveries` gives it to the order whose deposit it answers.

    Parameters
    ----------
    recipients : collection of str
        Where vendors receive; transfers to anybody else are refunds, by a merchant or by a bridge, or nothing.
    """
    if not transfers:
        return []
    orders = _load_orders_by_reference(session, env_mode, transfers)
    refunds = _load_refunds_by_reference(session, env_mode, transfers)
    deposits = OpenDeposits(session, env_mode, transfers)
    found: list[Match] = []
    for transfer in transfers:
        match = _refund(transfer, refunds) or _answer(transfer, deposits)
        if match is None and _is_anybodys(transfer, recipients):
            match = _find_named(transfer, orders)
        if match is not None:
            if match.evidence != Evidence.NONE:
                deposits.add(match.transfer, match.order_id)
            found.append(match)
    return found


def _is_anybodys(transfer: Transfer, recipients: Collection[str]) -> bool:
    """Whether a transfer may belong to an order by what its calls say.

    What a bridge paid out belongs to whose deposit it was: a relayer's calldata is the relayer's business.
    """
    if transfer.kind == TransferKind.PAYMENT:
        return transfer.recipient in recipients
    return transfer.kind in (TransferKind.DEPOSIT, TransferKind.REDIRECTED)


def _find_named(transfer: Transfer, orders: Mapping[bytes, str]) -> Match:
    """Return the match of the innermost call that names an order: no call around it has more to say."""
    if transfer.kind != TransferKind.DEPOSIT and transfer.bridge_id:
        return Match(transfer=transfer)
    for naming in transfer.namings:
        if naming.reference in orders:
            evidence = Evidence.REFERENCE if naming.is_own else Evidence.NONE
            return Match(transfer=transfer, order_id=orders[naming.reference], evidence=evidence)
    return Match(transfer=transfer)


def _answer(transfer: Transfer, deposits: OpenDeposits) -> Match | None:
    """Return the match of what a bridge gave back, or None where no deposit of ours is known."""
    deposit = deposits.answered_by(transfer)
    if deposit is None:
        return None
    answer = replace(
        transfer,
        source_chain_id=deposit.chain_id,
        source_tx_hash=deposit.tx_hash,
        bridge_id=deposit.bridge_id,
    )
    return Match(transfer=answer, order_id=deposit.order_id, evidence=Evidence.BRIDGE)


def _load_orders_by_reference(
    session: Session, env_mode: EnvMode, transfers: Sequence[Transfer]
) -> Mapping[bytes, str]:
    query = select(PaymentOrder.payment_reference, PaymentOrder.id).where(PaymentOrder.env_mode == env_mode)
    return {
        row[0]: row[1]
        for part in _split_references(transfers)
        for row in session.execute(query.where(PaymentOrder.payment_reference.in_(part)))
    }


def _load_refunds_by_reference(
    session: Session, env_mode: EnvMode, transfers: Sequence[Transfer]
) -> Mapping[bytes, Refund]:
    query = select(Refund).join(PaymentOrder, PaymentOrder.id == Refund.order_id)
    query = query.where(PaymentOrder.env_mode == env_mode)
    return {
        row.reference: row
        for part in _split_references(transfers)
        for row in session.scalars(query.where(Refund.reference.in_(part)))
    }


def _split_references(transfers: Sequence[Transfer]) -> Iterator[Sequence[bytes]]:
    """Yield what calls name, so many at once as a statement takes well: strangers may name as much as they like."""
    references = sorted({naming.reference for row in transfers for naming in row.namings})
    for start in range(0, len(references), AT_ONCE):
        yield references[start : start + AT_ONCE]


def _refund(transfer: Transfer, refunds: Mapping[bytes, Refund]) -> Match | None:
    """Return the match of what a merchant sent back, or None if it is no such thing."""
    for naming in transfer.namings:
        refund = refunds.get(naming.reference)
        if refund is not None and naming.is_own:
            asked = (refund.chain_id, refund.token_address, refund.sender, refund.recipient)
            if asked == (transfer.chain_id, transfer.token_address, naming.caller, transfer.recipient):
                sent = replace(transfer, kind=TransferKind.REFUND)
                return Match(transfer=sent, order_id=refund.order_id, evidence=Evidence.REFERENCE, refund_id=refund.id)
    return None

"""Whose a transfer is: by the reference it carries, by the deposit it answers, or else by what it amounts to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import Transfer, TransferKind
from api.domain.orders import OrderStatus
from api.services.bridge_deposits import OpenDeposits
from api.services.order_store import GONE
from api.storage.tables import Payment, PaymentOrder, PaymentReport, Refund, SettlementAccount
from routing_engine import registry

Key = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What was found out about a transfer.

    Parameters
    ----------
    transfer : Transfer
        Completed by the deposit that it answers.
    order_id : str or None
        The order that it is meant for.
    """

    transfer: Transfer
    order_id: str | None


def key_of(transfer: Transfer) -> Key:
    """Return what tells a chain's transfers apart."""
    return transfer.tx_hash, transfer.log_index


def claims_of(
    session: Session, env_mode: EnvMode, transfers: Sequence[Transfer], recipients: Collection[str]
) -> list[Claim]:
    """Return what each transfer is meant for; those that concern nobody here are left out.

    Parameters
    ----------
    recipients : collection of str
        Where vendors receive; transfers to anybody else are refunds, by a merchant or by a bridge, or nothing.
    """
    orders = _orders_by_reference(session, env_mode, transfers)
    refunds = _refunds_by_reference(session, transfers)
    reports = _orders_by_report(session, env_mode, transfers)
    deposits = OpenDeposits(session, env_mode, transfers)
    found: list[Claim] = []
    for transfer in transfers:
        claim = _refund(transfer, refunds) or _answer(transfer, deposits)
        if claim is None and (transfer.kind != TransferKind.PAYMENT or transfer.recipient in recipients):
            order_id = _by_reference(transfer, orders) or reports.get((transfer.tx_hash, transfer.sender))
            if order_id is None and _is_anonymous(transfer):
                order_id = _only_order_waiting_for(session, env_mode, transfer)
                # Of two equal payments without a reference, the second is nobody's.
                order_id = None if order_id in {claim.order_id for claim in found} else order_id
            claim = Claim(transfer=transfer, order_id=order_id)
        if claim is not None:
            deposits.add(claim.transfer, claim.order_id)
            found.append(claim)
    return found


def deliveries_waiting(session: Session, env_mode: EnvMode, claims: Collection[Claim]) -> Mapping[int, Claim]:
    """Return, by their keys, the payments seen earlier that answer the deposits of these claims; locked.

    Chains are read one after the other, so what left a bridge may be seen before what went in.
    """
    deposits = {
        claim.transfer.bridge_id: claim
        for claim in claims
        if claim.transfer.kind == TransferKind.DEPOSIT and claim.transfer.bridge_id and claim.order_id
    }
    query = select(Payment).where(
        Payment.bridge_id.in_(deposits),
        Payment.kind == TransferKind.PAYMENT,
        Payment.order_id.is_(None),
        Payment.env_mode == env_mode,
    )
    rows = session.scalars(query.order_by(Payment.id).with_for_update()) if deposits else ()
    return {row.id: deposits.pop(row.bridge_id) for row in rows if row.bridge_id in deposits}


def reported_since(session: Session, env_mode: EnvMode, chain_id: int) -> Mapping[int, str]:
    """Return the unmatched payments of a chain that wallets have reported meanwhile, and for which order; locked."""
    query = (
        select(Payment, PaymentReport.order_id)
        .join(PaymentReport, and_(PaymentReport.chain_id == Payment.chain_id, PaymentReport.tx_hash == Payment.tx_hash))
        .join(PaymentOrder, PaymentOrder.id == PaymentReport.order_id)
        .where(
            Payment.order_id.is_(None),
            Payment.claimed_order_id.is_(None),
            Payment.chain_id == chain_id,
            Payment.env_mode == env_mode,
            Payment.sender == PaymentReport.payer,
            Payment.state.not_in(GONE),
            PaymentOrder.env_mode == env_mode,
        )
    )
    found: dict[int, set[str]] = defaultdict(set)
    for row, order_id in session.execute(query.order_by(Payment.id).with_for_update(of=Payment)):
        found[row.id].add(order_id)
    return {row_id: next(iter(orders)) for row_id, orders in found.items() if len(orders) == 1}


def is_worth_keeping(session: Session, env_mode: EnvMode, claim: Claim) -> bool:
    """Whether the operator should know of a transfer: one for an order, or of a token that means something here.

    Anybody can make tokens and send them to everybody.
    """
    transfer = claim.transfer
    if claim.order_id is not None or registry.info_of(transfer.chain_id, transfer.token_address) is not None:
        return True
    query = select(SettlementAccount.vendor_id).where(
        SettlementAccount.env_mode == env_mode,
        SettlementAccount.chain_id == transfer.chain_id,
        SettlementAccount.token_address == transfer.token_address,
    )
    return session.scalar(query.limit(1)) is not None


def _answer(transfer: Transfer, deposits: OpenDeposits) -> Claim | None:
    """Return the claim of what a bridge delivered or gave back, or None where no deposit of ours is known."""
    deposit = deposits.answered_by(transfer)
    if deposit is None:
        return None
    answer = replace(transfer, source_chain_id=deposit.chain_id, source_tx_hash=deposit.tx_hash)
    return Claim(transfer=answer, order_id=deposit.order_id)


def _orders_by_reference(
    session: Session, env_mode: EnvMode, transfers: Sequence[Transfer]
) -> Mapping[bytes, tuple[str, int | None]]:
    """Return the orders that these transfers name, and what is still due on each."""
    references = {reference for row in transfers for reference in row.references}
    query = select(PaymentOrder.payment_reference, PaymentOrder.id, PaymentOrder.amount_due).where(
        PaymentOrder.payment_reference.in_(references), PaymentOrder.env_mode == env_mode
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(query)} if references else {}


def _is_anonymous(transfer: Transfer) -> bool:
    """Whether nothing but its amount can tell whose a payment is: no reference, and no deposit to wait for."""
    return transfer.kind == TransferKind.PAYMENT and not transfer.references and not transfer.bridge_id


def _orders_by_report(
    session: Session, env_mode: EnvMode, transfers: Sequence[Transfer]
) -> Mapping[tuple[str, str], str]:
    """Return the order that a payer's wallet said it paid with a transaction; none where it was said of two."""
    query = (
        select(PaymentReport.tx_hash, PaymentReport.payer, PaymentReport.order_id)
        .join(PaymentOrder)
        .where(
            PaymentReport.chain_id.in_({row.chain_id for row in transfers}),
            PaymentReport.tx_hash.in_({row.tx_hash for row in transfers}),
            PaymentOrder.env_mode == env_mode,
        )
    )
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for tx_hash, payer, order_id in session.execute(query) if transfers else ():
        said[tx_hash, payer].add(order_id)
    return {key: next(iter(orders)) for key, orders in said.items() if len(orders) == 1}


def _by_reference(transfer: Transfer, orders: Mapping[bytes, tuple[str, int | None]]) -> str | None:
    """Return the one order that a transfer names; of several, paid in one batch, the one that waits for its amount."""
    named = dict(orders[reference] for reference in transfer.references if reference in orders)
    if len(named) > 1:
        named = {order_id: due for order_id, due in named.items() if due == transfer.amount}
    return next(iter(named)) if len(named) == 1 else None


def _refunds_by_reference(session: Session, transfers: Sequence[Transfer]) -> Mapping[bytes, Refund]:
    references = {reference for row in transfers for reference in row.references}
    rows = session.scalars(select(Refund).where(Refund.reference.in_(references))) if references else ()
    return {row.reference: row for row in rows}


def _refund(transfer: Transfer, refunds: Mapping[bytes, Refund]) -> Claim | None:
    """Return the claim of what a merchant sent back, or None if it is no such thing."""
    for refund in (refunds[reference] for reference in transfer.references if reference in refunds):
        asked = (refund.chain_id, refund.token_address, refund.sender, refund.recipient)
        if asked == (transfer.chain_id, transfer.token_address, transfer.sender, transfer.recipient):
            return Claim(transfer=replace(transfer, kind=TransferKind.REFUND), order_id=refund.order_id)
    return None


def _only_order_waiting_for(session: Session, env_mode: EnvMode, transfer: Transfer) -> str | None:
    """Return the order that waits for just this amount of this token at this address, if there is exactly one."""
    query = select(PaymentOrder.id).where(
        PaymentOrder.settlement_chain_id == transfer.chain_id,
        PaymentOrder.settlement_address == transfer.recipient,
        PaymentOrder.settlement_token_address == transfer.token_address,
        PaymentOrder.env_mode == env_mode,
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        PaymentOrder.amount_due == transfer.amount,
        PaymentOrder.created_at <= transfer.block.mined_at,
    )
    found = session.scalars(query.limit(2)).all()
    return found[0] if len(found) == 1 else None

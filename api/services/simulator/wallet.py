"""Wallets and a bridge on the simulated chains: they do what people and relayers do on real ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from api.domain.errors import Conflict
from api.domain.transfers import TransferKind
from api.services.simulator.chain import NewTransfer, append, hold
from api.storage.statements import Statement
from api.storage.tables import Payment, PaymentOrder, Refund, SimulatedTransfer
from routing_engine.model import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

FILL_TIME = timedelta(seconds=1)
DELAYED_FILL_TIME = timedelta(seconds=15)
BRIDGE_REFUND_TIME = timedelta(seconds=2)
UNSENT = (
    select(SimulatedTransfer.tx_hash)
    .where(SimulatedTransfer.chain_id == Payment.chain_id, SimulatedTransfer.tx_hash == Payment.tx_hash)
    .exists(),
    ~select(SimulatedTransfer.tx_hash).where(SimulatedTransfer.reference == Refund.reference).exists(),
    Refund.cancelled_at.is_(None),
)
"""Holds for refunds of simulated payments, each beside its payment, that are not sent yet."""


def _make_up_address(name: str) -> str:
    return "0x" + hashlib.sha256(f"simulated:{name}".encode()).hexdigest()[:40]


PAYER = _make_up_address("payer")
BRIDGE = _make_up_address("bridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerFunds:
    """What the payer pays with, and how much of it for the whole amount due."""

    chain_id: int
    token_address: str
    amount: int


def pay_direct(
    session: Session, order: PaymentOrder, amount: int, now: datetime, *, dooms: bool = False, names_order: bool = True
) -> None:
    """Send the settlement token to the merchant.

    Parameters
    ----------
    dooms : bool
        Whether the chain loses the transfer again once it was seen.
    names_order : bool
        Whether it has the order's reference.
    """
    payment = _make_payment(order, get_settlement_token(order).address, amount, dooms=dooms)
    append(session, payment if names_order else replace(payment, reference=None), now)


def pay_foreign(session: Session, order: PaymentOrder, now: datetime) -> None:
    """Send another token than the one asked for to the merchant's address."""
    settled = get_settlement_token(order)
    listed = (info.on(settled.chain_id) for info in token_registry.tokens() if settled.chain_id in info.addresses)
    other = next(token for token in listed if token != settled)
    append(session, _make_payment(order, other.address, 10**other.decimals), now)


def pay_by_bridge(
    session: Session, order: PaymentOrder, source: PayerFunds, amount: int, now: datetime, *, fill_time: timedelta
) -> None:
    """Deposit into the bridge on one chain; a relayer pays the merchant on the other a little later."""
    settled = get_settlement_token(order)
    hold(session, source.chain_id, settled.chain_id)
    deposit_hash = _make_deposit(session, order, source, now)
    fill = NewTransfer(
        kind=TransferKind.PAYMENT,
        chain_id=settled.chain_id,
        token_address=settled.address,
        sender=BRIDGE,
        recipient=_get_merchant(order),
        amount=amount,
        reference=order.payment_reference,
        source_chain_id=source.chain_id,
        source_tx_hash=deposit_hash,
    )
    append(session, fill, now, delay=fill_time)


def fail_by_bridge(session: Session, order: PaymentOrder, source: PayerFunds, now: datetime) -> None:
    """Deposit into the bridge; nobody fills it, and the bridge gives the deposit back."""
    deposit_hash = _make_deposit(session, order, source, now)
    refund = NewTransfer(
        kind=TransferKind.BRIDGE_REFUND,
        chain_id=source.chain_id,
        token_address=source.token_address,
        sender=BRIDGE,
        recipient=PAYER,
        amount=source.amount,
        reference=order.payment_reference,
        source_chain_id=source.chain_id,
        source_tx_hash=deposit_hash,
    )
    append(session, refund, now, delay=BRIDGE_REFUND_TIME)


def sign_refunds(session: Session, chain_id: int, now: datetime) -> None:
    """Send back what merchants want to send back of simulated payments, as their own wallets do on real chains.

    What was sent before is not sent again: its reference is on the chain.
    """
    unsent = [row.id for row in _UNSENT.fetch(session, {"chain_id": chain_id})]
    query = select(Refund).where(Refund.id.in_(unsent)).order_by(Refund.id)
    for refund in session.scalars(query).all() if unsent else ():
        back = NewTransfer(
            kind=TransferKind.PAYMENT,
            chain_id=refund.chain_id,
            token_address=refund.token_address,
            sender=refund.sender,
            recipient=refund.recipient,
            amount=refund.amount,
            reference=refund.reference,
        )
        append(session, back, now)


def find_source_elsewhere(order: PaymentOrder) -> PayerFunds:
    """Return the settlement token on another chain, for a payer who chose nothing.

    Raises
    ------
    Conflict
        If it is on no other chain.
    """
    settled = get_settlement_token(order)
    info = token_registry.info_of(settled.chain_id, settled.address)
    others = [chain for chain in info.chain_ids if chain != settled.chain_id and chain in CHAINS] if info else []
    if info is None or not others:
        symbol = order.settlement_token_symbol
        raise Conflict(f"{symbol} is on no other chain; give the quote_id of a payment from another chain")
    token = info.on(others[0])
    return PayerFunds(chain_id=token.chain_id, token_address=token.address, amount=order.amount_due or 0)


def get_settlement_token(order: PaymentOrder) -> Token:
    """Return the token that the merchant of a payable order receives."""
    if order.settlement_chain_id is None or order.settlement_token_address is None:
        raise Conflict("The order can't be paid: its vendor had no settlement account when it was created")
    return Token(
        chain_id=order.settlement_chain_id,
        address=order.settlement_token_address,
        symbol=order.settlement_token_symbol or "",
        decimals=order.settlement_token_decimals or 0,
    )


def _make_deposit(session: Session, order: PaymentOrder, source: PayerFunds, now: datetime) -> str:
    deposit = NewTransfer(
        kind=TransferKind.DEPOSIT,
        chain_id=source.chain_id,
        token_address=source.token_address,
        sender=PAYER,
        recipient=BRIDGE,
        amount=source.amount,
        reference=order.payment_reference,
    )
    return append(session, deposit, now)


def _make_payment(order: PaymentOrder, token_address: str, amount: int, *, dooms: bool = False) -> NewTransfer:
    return NewTransfer(
        kind=TransferKind.PAYMENT,
        chain_id=get_settlement_token(order).chain_id,
        token_address=token_address,
        sender=PAYER,
        recipient=_get_merchant(order),
        amount=amount,
        reference=order.payment_reference,
        reorg_when_seen=dooms,
    )


def _get_merchant(order: PaymentOrder) -> str:
    return order.settlement_address or ""


_UNSENT = Statement(
    select(Refund.id)
    .join(Payment, Payment.id == Refund.payment_id)
    .where(Refund.chain_id == bindparam("chain_id", type_=Refund.chain_id.type), *UNSENT)
)

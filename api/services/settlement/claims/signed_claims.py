"""Payments that no reference counts for: who certainly paid signs that they are for an order.

A signature by anybody else proves nothing; what is signed is said in `claim_digest`. What calls around a transfer name
binds whoever signs: who was drawn from by a customer claims the customer's payment for no other order than his.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound, Problem, ServiceUnavailable
from api.domain.ledger import ChainUnavailable
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.services.resources import Resources
from api.services.settlement.claims.claim_digest import build_typed_data, compute_digest
from api.storage.db import insert_new
from api.storage.statements import Statement
from api.storage.tables import Payment, PaymentClaim, PaymentOrder
from routing_engine.reference import token_registry

RETRY_S = 5


class ClaimRefusal(StrEnum):
    """Why a signature does not make a transfer an order's."""

    UNAVAILABLE = "claims_unavailable"
    NO_TRANSFER = "no_such_transfer"
    OTHER_WALLET = "other_wallet"
    TOO_OLD = "older_than_order"
    BAD_SIGNATURE = "bad_signature"
    TAKEN = "belongs_to_another_order"


class ClaimRefused(Conflict):
    """A transfer can't be claimed; `reason` says why in a word, `message` in a sentence."""

    def __init__(self, reason: ClaimRefusal, message: str, *problems: Problem) -> None:
        super().__init__(message, *problems)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOffer:
    """A transfer that an account may claim for an order by signing.

    Parameters
    ----------
    log_index : int
        Tells the transfers of a transaction apart.
    token_address, token_symbol, decimals : str and int
        What moved; an unlisted token has no symbol.
    amount : int
        Smallest units.
    typed_data : mapping
        What ``eth_signTypedData_v4`` takes.
    """

    log_index: int
    token_address: str
    token_symbol: str
    decimals: int
    amount: int
    typed_data: Mapping[str, Any]


def prepare_claims(
    resources: Resources, order_id: str, *, chain_id: int, tx_hash: str, account: str
) -> tuple[ClaimOffer, ...]:
    """Return what an account may claim of a transaction; nothing where it did not certainly pay the merchant in it.

    Parameters
    ----------
    tx_hash, account : str
        In lower case.

    Raises
    ------
    NotFound
        If there is no such order.
    """
    with resources.database.read() as session:
        order = _load_order(session, order_id)
        rows = session.scalars(_select_payments(order, chain_id, tx_hash).where(Payment.sender == account)).all()
        return tuple(_offer(resources, order, row) for row in rows if _may_pay(order, row) and not is_older(order, row))


def submit_claim(
    resources: Resources, order_id: str, *, chain_id: int, tx_hash: str, log_index: int, account: str, signature: bytes
) -> None:
    """Keep a claim whose signature is good; the next look at the chain credits it. The same again changes nothing.

    Raises
    ------
    NotFound
        If there is no such order.
    ClaimRefused
        If the transfer is not known yet, is not certainly this wallet's, is older than the order, belongs to another
        order or names one, or if the signature is not the account's.
    ServiceUnavailable
        If the chain does not answer, or too many wait for it.
    """
    with resources.database.read() as session:
        order = _load_order(session, order_id)
        row = session.scalar(_select_payments(order, chain_id, tx_hash).where(Payment.log_index == log_index))
        _require_claimable(order, row, account)
    if row is None or row.order_id == order.id:
        return
    digest = compute_digest(build_typed_data(resources.config.base_url, order, row))
    if not _is_signed(resources, order, row, digest, signature):
        problem = Problem(path="signature", message="Sign what was asked, with this account")
        raise ClaimRefused(ClaimRefusal.BAD_SIGNATURE, "This is no signature of this account", problem)
    values = {
        "order_id": order.id,
        "env_mode": order.env_mode,
        "chain_id": chain_id,
        "tx_hash": tx_hash,
        "log_index": log_index,
        "account": account,
        "signature": "0x" + signature.hex(),
        "made_at": resources.clock.now(),
    }
    with resources.database.write() as session:
        insert_new(session, PaymentClaim, values)


def find_signed(session: Session, env_mode: EnvMode, chain_id: int) -> dict[int, str]:
    """Return the payments that belong to nobody and were signed for, and for which order; of two claims the first."""
    session.flush()
    found: dict[int, str] = {}
    for payment_id, order_id in _SIGNED.fetch(session, {"env_mode": env_mode, "chain_id": chain_id}):
        found.setdefault(payment_id, order_id)
    return found


def is_older(order: PaymentOrder, payment: Payment) -> bool:
    """Whether a payment was mined before its order was made: below the newest block that was known then.

    For the blocks between that one and the chain's newest at that moment the block's own time decides.
    """
    height = order.start_heights.get(str(payment.chain_id), 0)
    return payment.block_number is None or payment.block_number <= height or payment.mined_at < order.created_at


def _may_pay(order: PaymentOrder, row: Payment) -> bool:
    """Whether a transfer is nobody's yet, and its transaction names no other order."""
    return row.order_id is None and row.claimed_order_id in (None, order.id)


def _load_order(session: Session, order_id: str) -> PaymentOrder:
    order = session.get(PaymentOrder, order_id)
    if order is None:
        raise NotFound("There is no such payment order")
    return order


def _select_payments(order: PaymentOrder, chain_id: int, tx_hash: str) -> Any:
    return select(Payment).where(
        Payment.env_mode == order.env_mode,
        Payment.chain_id == chain_id,
        Payment.tx_hash == tx_hash,
        Payment.recipient == order.settlement_address,
        Payment.kind == TransferKind.PAYMENT,
        Payment.bridge_id == "",
        Payment.state.not_in(GONE),
    )


def _require_claimable(order: PaymentOrder, row: Payment | None, account: str) -> None:
    if row is None:
        message = "The transaction has not been seen yet, or brought the merchant nothing; try again in a minute"
        raise ClaimRefused(ClaimRefusal.NO_TRANSFER, message)
    if row.order_id not in (None, order.id):
        raise ClaimRefused(ClaimRefusal.TAKEN, "This transfer has paid another order already")
    if row.sender != account:
        message = "The money of this transfer left another address; sign with that one"
        if not row.sender:
            message = "Whose money this transfer was can't be told for certain; ask the merchant to assign it"
        raise ClaimRefused(ClaimRefusal.OTHER_WALLET, message)
    if row.order_id is None and not _may_pay(order, row):
        raise ClaimRefused(ClaimRefusal.TAKEN, "The transaction itself names another order; ask the merchant")
    if row.order_id is None and is_older(order, row):
        message = "This transfer is older than the order and can't pay it; ask the merchant"
        raise ClaimRefused(ClaimRefusal.TOO_OLD, message)


def _is_signed(resources: Resources, order: PaymentOrder, row: Payment, digest: bytes, signature: bytes) -> bool:
    ledger = resources.ledgers.get(EnvMode(order.env_mode))
    if ledger is None or row.chain_id not in ledger.chain_ids:
        raise ClaimRefused(ClaimRefusal.UNAVAILABLE, "The chain is not connected here")
    try:
        with resources.waiting_room.enter(row.chain_id):
            return ledger.accepts_signature(row.chain_id, row.sender, digest, signature, row.block_number or 0)
    except ChainUnavailable as error:
        raise ServiceUnavailable("The chain does not answer; try again", retry_after_s=RETRY_S) from error


def _offer(resources: Resources, order: PaymentOrder, row: Payment) -> ClaimOffer:
    info = token_registry.info_of(row.chain_id, row.token_address)
    return ClaimOffer(
        log_index=row.log_index,
        token_address=row.token_address,
        token_symbol=info.symbol if info else "",
        decimals=info.on(row.chain_id).decimals if info else 0,
        amount=row.amount,
        typed_data=build_typed_data(resources.config.base_url, order, row),
    )


_SIGNED = Statement(
    select(Payment.id, PaymentClaim.order_id)
    .join(
        PaymentClaim,
        (PaymentClaim.chain_id == Payment.chain_id)
        & (PaymentClaim.tx_hash == Payment.tx_hash)
        & (PaymentClaim.log_index == Payment.log_index)
        & (PaymentClaim.env_mode == Payment.env_mode)
        & (PaymentClaim.account == Payment.sender)
        & (Payment.claimed_order_id.is_(None) | (Payment.claimed_order_id == PaymentClaim.order_id)),
    )
    .where(
        Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
        Payment.chain_id == bindparam("chain_id", type_=Payment.chain_id.type),
        Payment.order_id.is_(None),
        *(Payment.state != each for each in sorted(GONE)),
    )
    .order_by(PaymentClaim.id)
)

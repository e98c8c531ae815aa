"""Deposits into bridges that wait for their answer: a delivery on another chain, or the money back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import Transfer, TransferKind
from api.services.order_store import GONE
from api.storage.tables import Payment


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDeposit:
    """A deposit of one of our orders that nothing has answered yet."""

    order_id: str
    bridge_id: str
    chain_id: int
    tx_hash: str
    token_address: str
    sender: str
    amount: int

    def is_answered_by(self, transfer: Transfer) -> bool:
        """Whether a transfer is what the bridge delivered for this deposit, or gives it back."""
        if transfer.kind == TransferKind.PAYMENT:
            return transfer.bridge_id == self.bridge_id
        if transfer.kind != TransferKind.BRIDGE_REFUND or transfer.source_tx_hash is not None:
            return False
        # Bridges give deposits back by address and token, several at once, and name none of them.
        to_us = (transfer.chain_id, transfer.recipient, transfer.token_address)
        return to_us == (self.chain_id, self.sender, self.token_address) and transfer.amount >= self.amount


class OpenDeposits:
    """Deposits into bridges that this look's transfers may answer: of earlier looks, and of this one."""

    def __init__(self, session: Session, env_mode: EnvMode, transfers: Sequence[Transfer]) -> None:
        names = {row.bridge_id for row in transfers if row.bridge_id and row.kind == TransferKind.PAYMENT}
        payers = {row.recipient for row in transfers if row.kind == TransferKind.BRIDGE_REFUND}
        query = select(Payment).where(
            Payment.kind == TransferKind.DEPOSIT,
            Payment.env_mode == env_mode,
            Payment.order_id.is_not(None),
            Payment.state.not_in(GONE),
        )
        named = session.scalars(query.where(Payment.bridge_id.in_(names))).all() if names else ()
        overdue = session.scalars(query.where(Payment.sender.in_(payers), Payment.is_overdue)).all() if payers else ()
        rows = sorted({row.id: row for row in (*named, *overdue)}.values(), key=lambda row: row.id)
        answered = _answered(session, {row.tx_hash for row in rows})
        self._open: list[OpenDeposit] = []
        for row in rows:
            if (row.chain_id, row.tx_hash) not in answered:
                self.add(row, row.order_id)

    def add(self, row: Transfer | Payment, order_id: str | None) -> None:
        """Remember a deposit of an order; anything else is passed over."""
        if row.kind == TransferKind.DEPOSIT and row.bridge_id and order_id is not None:
            self._open.append(
                OpenDeposit(
                    order_id=order_id,
                    bridge_id=row.bridge_id,
                    chain_id=row.chain_id,
                    tx_hash=row.tx_hash,
                    token_address=row.token_address,
                    sender=row.sender,
                    amount=row.amount,
                )
            )

    def answered_by(self, transfer: Transfer) -> OpenDeposit | None:
        """Return the deposit that a transfer answers, and count it as answered; None where none of ours is."""
        deposit = next((each for each in self._open if each.is_answered_by(transfer)), None)
        if deposit is not None:
            self._open.remove(deposit)
        return deposit


def _answered(session: Session, hashes: Collection[str]) -> set[tuple[int | None, str | None]]:
    query = select(Payment.source_chain_id, Payment.source_tx_hash).where(
        Payment.source_tx_hash.in_(hashes), Payment.state.not_in(GONE)
    )
    return {(row[0], row[1]) for row in session.execute(query)} if hashes else set()

"""Deposits into bridges that nothing has answered: their bridges may give them back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.payments import GONE
from api.domain.transfers import Transfer, TransferKind
from api.storage.tables import Payment


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDeposit:
    """A deposit of one of our orders that nothing has answered yet."""

    order_id: str
    bridge_id: str
    chain_id: int
    tx_hash: str
    log_index: int
    token_address: str
    sender: str
    amount: int

    def is_answered_by(self, transfer: Transfer) -> bool:
        """Whether a transfer gives this deposit back."""
        if transfer.bridge_id:
            return transfer.bridge_id == self.bridge_id
        # Bridges give deposits back by address and token, several at once, and name none of them.
        to_us = (transfer.chain_id, transfer.recipient, transfer.token_address)
        return to_us == (self.chain_id, self.sender, self.token_address) and transfer.amount >= self.amount


class OpenDeposits:
    """Deposits into bridges that this look's transfers may give back: of earlier looks, and of this one."""

    def __init__(self, session: Session, env_mode: EnvMode, transfers: Sequence[Transfer]) -> None:
        answers = [row for row in transfers if row.kind == TransferKind.BRIDGE_REFUND]
        names = {row.bridge_id for row in answers if row.bridge_id}
        payers = {row.recipient for row in answers if not row.bridge_id}
        query = select(Payment).where(
            Payment.kind == TransferKind.DEPOSIT,
            Payment.env_mode == env_mode,
            Payment.order_id.is_not(None),
            Payment.state.not_in(GONE),
        )
        named = session.scalars(query.where(Payment.bridge_id.in_(names))).all() if names else ()
        overdue = session.scalars(query.where(Payment.sender.in_(payers), Payment.is_overdue)).all() if payers else ()
        rows = sorted({row.id: row for row in (*named, *overdue)}.values(), key=lambda row: row.id)
        answered = _answered(session, env_mode, {row.bridge_id for row in rows if row.bridge_id})
        self._open: list[OpenDeposit] = []
        for row in rows:
            if row.bridge_id in answered:
                answered.remove(row.bridge_id)  # of two burns that are alike, one may still be open
            else:
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
                    log_index=row.log_index,
                    token_address=row.token_address,
                    sender=row.sender,
                    amount=row.amount,
                )
            )

    def answered_by(self, transfer: Transfer) -> OpenDeposit | None:
        """Return the deposit that a transfer gives back, and count it as answered; None where none of ours is."""
        if transfer.kind != TransferKind.BRIDGE_REFUND:
            return None
        deposit = next((each for each in self._open if each.is_answered_by(transfer)), None)
        if deposit is not None:
            self._open.remove(deposit)
        return deposit


def _answered(session: Session, env_mode: EnvMode, names: Collection[str]) -> list[str]:
    """Return the names of the deposits that were answered, as often as they were."""
    query = select(Payment.bridge_id).where(
        Payment.bridge_id.in_(names),
        Payment.kind != TransferKind.DEPOSIT,
        Payment.order_id.is_not(None),
        Payment.env_mode == env_mode,
        Payment.state.not_in(GONE),
    )
    return list(session.scalars(query)) if names else []

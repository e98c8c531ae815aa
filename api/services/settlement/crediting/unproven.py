"""Payments that nothing but one endpoint's word speaks for yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.payments import CHECKED
from api.domain.transfers import CanonicalBlock, Transfer, TransferKind
from api.storage.tables import Payment

MOST_AT_ONCE = 500


def list_unproven(
    session: Session, env_mode: EnvMode, chain_id: int, endpoints: int, canonical: Mapping[int, CanonicalBlock]
) -> Sequence[Transfer]:
    """Return what lies in these blocks and lacks a proof that can be had; payments of orders come first."""
    query = select(Payment).where(
        Payment.env_mode == env_mode,
        Payment.chain_id == chain_id,
        Payment.state.in_(CHECKED),
        Payment.block_number.in_(canonical),
        ~Payment.has_receipt_proof | (~Payment.has_second_opinion if endpoints > 1 else False),
    )
    rows = session.scalars(query.order_by(Payment.order_id.is_(None), Payment.id))
    found = (_make_transfer(row, canonical[row.block_number or 0]) for row in rows)
    return [each for each in found if each is not None][:MOST_AT_ONCE]


def _make_transfer(row: Payment, block: CanonicalBlock) -> Transfer | None:
    """Return what a payment is of, as far as it was stored; None if its block is canonical no more."""
    if row.block_hash != block.hash:
        return None
    return Transfer(
        kind=TransferKind(row.kind),
        chain_id=row.chain_id,
        block=block,
        tx_hash=row.tx_hash,
        log_index=row.log_index,
        token_address=row.token_address,
        sender=row.sender,
        recipient=row.recipient,
        amount=row.amount,
        is_inner=row.is_inner,
        bridge_id=row.bridge_id,
        fill_deadline=row.fill_deadline,
    )

"""What an order's transfers on the chains add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from api.domain.ledger import TransferKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """One transfer that belongs to an order and is in a canonical block.

    Parameters
    ----------
    is_settlement_token : bool
        Whether it moved the token that the merchant asked for, on its chain; only then its amount counts.
    is_final : bool
        Whether it has the confirmations that its order's value asks for.
    source_tx_hash : str or None
        The deposit into a bridge that this transfer answers.
    is_overdue : bool
        Of a deposit: whether its bridge can't deliver it any more.
    is_rejected : bool
        Whether its sender is one from whom nothing is taken; then its amount does not count.
    """

    kind: TransferKind
    amount: int
    is_settlement_token: bool
    is_final: bool
    tx_hash: str
    source_tx_hash: str | None
    mined_at: datetime
    is_overdue: bool = False
    is_rejected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Funds:
    """The money of one order.

    Parameters
    ----------
    seen, final : int
        Settlement token's smallest units that reached the merchant: in a block, and final of these.
    first_at : datetime or None
        When the first transfer of any kind was mined; None when there is none.
    in_flight : bool
        Whether a bridge has taken money in and neither delivered nor, with finality, given it back.
    returned : bool
        Whether a bridge gave money back, with finality, or can do nothing else any more.
    refunded : int
        What the merchant sent back, with finality; settlement token's smallest units.
    rejected, rejected_final : bool
        Whether money came from a sender from whom none is taken, and whether it is final.
    foreign, foreign_final : bool
        Whether another token was sent than asked for, and whether it is final.
    """

    seen: int = 0
    final: int = 0
    first_at: datetime | None = None
    in_flight: bool = False
    returned: bool = False
    refunded: int = 0
    rejected: bool = False
    rejected_final: bool = False
    foreign: bool = False
    foreign_final: bool = False


NO_FUNDS = Funds()


def add_up(credits: Iterable[Credit]) -> Funds:
    """Sum up an order's transfers."""
    every = tuple(credits)
    refunds = [row for row in every if row.kind == TransferKind.REFUND]
    rows = [row for row in every if row.kind != TransferKind.REFUND]
    payments = [row for row in rows if row.kind == TransferKind.PAYMENT and not row.is_rejected]
    wanted = [row for row in payments if row.is_settlement_token]
    foreign = [row for row in payments if not row.is_settlement_token]
    returned = [row for row in rows if row.kind == TransferKind.BRIDGE_REFUND and row.is_final]
    answered = {row.source_tx_hash for row in (*payments, *returned)}
    waiting = [row for row in rows if row.kind == TransferKind.DEPOSIT and row.tx_hash not in answered]
    return Funds(
        seen=sum(row.amount for row in wanted),
        final=sum(row.amount for row in wanted if row.is_final),
        first_at=min((row.mined_at for row in rows), default=None),
        in_flight=any(not row.is_overdue for row in waiting),
        returned=bool(returned) or any(row.is_overdue and row.is_final for row in waiting),
        refunded=sum(row.amount for row in refunds if row.is_final),
        rejected=any(row.is_rejected for row in rows),
        rejected_final=any(row.is_rejected and row.is_final for row in rows),
        foreign=bool(foreign),
        foreign_final=any(row.is_final for row in foreign),
    )

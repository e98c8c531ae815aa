"""What an order's transfers on the chains add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from api.domain.transfers import TransferKind

NOTABLE_SHARE = 100
"""Money under the price's hundredth part changes no status: anybody who has the link can send that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """One transfer that belongs to an order and is in a canonical block.

    Parameters
    ----------
    is_settlement_token : bool
        Whether it moved the token that the merchant asked for, on its chain; only then its amount counts.
    is_final : bool
        Whether it has the confirmations that its value asks for, and its block's contents are proven.
    bridge_key : str
        What a deposit into a bridge and what answers it have in common; empty where no bridge has to do with it.
    is_built : bool
        Of a deposit: whether it is just what was built for a quote of the order. Only that counts as on its way.
    is_overdue : bool
        Of a deposit: whether its bridge can't deliver it any more.
    is_rejected : bool
        Whether its sender is one from whom nothing is taken; then its amount does not count.
    is_after_close : bool
        Whether the order was closed when it came.
    is_notable : bool
        Of another token than the one asked for: whether it is worth a hundredth of the price, as far as can be told.
    asked_back, sent_back : int
        What the merchant wants to send back of it, and has sent back for good; smallest units.
    firm : int
        What of it stays whatever happens: its chain can't lose it any more, nor that of its deposit the deposit, and no
        refund was ever asked of that much, also none that was cancelled.
    """

    kind: TransferKind
    amount: int
    is_settlement_token: bool
    is_final: bool
    mined_at: datetime
    bridge_key: str = ""
    is_built: bool = False
    is_overdue: bool = False
    is_rejected: bool = False
    is_after_close: bool = False
    is_notable: bool = True
    asked_back: int = 0
    sent_back: int = 0
    firm: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Funds:
    """The money of one order; amounts in the settlement token's smallest units.

    Parameters
    ----------
    received, final : int
        What reached the merchant in all, and what of it is final.
    seen, seen_final : int
        What counts towards the price of an order that is open: what came before it was closed, less what the merchant
        wants to send back.
    seen_firm : int
        What of that stays whatever happens.
    first_at : datetime or None
        When a notable transfer of any kind was mined for the first time; None while there is none.
    paid_at : datetime or None
        When what counts had come to the price: what a bridge delivered counts since its deposit; None while it is
        short.
    in_flight : bool
        Whether a bridge has taken in what was built for the order, and neither delivered nor, with finality, given it
        back.
    returned : bool
        Whether a bridge gave such a deposit back, with finality, or can do nothing else any more.
    redirected : bool
        Whether a bridge delivered such a deposit to somebody else, as its payer told it to.
    rejected, foreign : bool
        Whether notable money came from a sender from whom none is taken; in another token than asked for.
    after_close : bool
        Whether notable money came after the order was closed, is final, and was not sent back.
    part_sent_back, all_sent_back : bool
        Whether the merchant has sent back some of all that came, with finality; all of it.
    all_asked_back : bool
        Whether the merchant wants to send back all that came, or has done so.
    """

    received: int = 0
    final: int = 0
    seen: int = 0
    seen_final: int = 0
    seen_firm: int = 0
    first_at: datetime | None = None
    paid_at: datetime | None = None
    in_flight: bool = False
    returned: bool = False
    redirected: bool = False
    rejected: bool = False
    foreign: bool = False
    after_close: bool = False
    part_sent_back: bool = False
    all_sent_back: bool = False
    all_asked_back: bool = False


def add_up(credits: Iterable[Credit], price: int | None) -> Funds:
    """Sum up an order's transfers.

    Parameters
    ----------
    price : int or None
        What the merchant must receive, smallest units of the settlement token; None where nothing can be paid.
    """
    rows = sorted(credits, key=_rank)
    payments = [row for row in rows if row.kind == TransferKind.PAYMENT]
    taken = [row for row in payments if row.is_settlement_token and not row.is_rejected]
    in_time = [row for row in taken if not row.is_after_close]
    early = [row for row in payments if not row.is_after_close]
    late = [row for row in payments if row.is_after_close and row.is_final and row.sent_back < row.amount]
    waiting, redirected = tuple(_select_waiting(rows)), _find_redirected(rows)
    worth_a_word = _select_notable(payments, price) if _is_notable(payments, price) else []
    return Funds(
        received=sum(row.amount for row in taken),
        final=sum(row.amount for row in taken if row.is_final),
        seen=sum(_count_kept(row) for row in in_time),
        seen_final=sum(_count_kept(row) for row in in_time if row.is_final),
        seen_firm=sum(row.firm for row in in_time),
        first_at=_find_first_at(rows, price),
        paid_at=_find_paid_at(rows, in_time, price),
        in_flight=any(row.is_built and not row.is_overdue for row in waiting),
        returned=any(row.is_built and row.is_overdue and row.is_final for row in waiting)
        or _is_refunded_by_bridge(rows),
        redirected=any(row.bridge_key in redirected and row.is_built for row in rows),
        rejected=_is_notable([row for row in early if row.is_rejected], price),
        foreign=_is_notable([row for row in early if not row.is_settlement_token and not row.is_rejected], price),
        after_close=_is_notable(late, price),
        part_sent_back=any(row.sent_back for row in payments),
        all_sent_back=bool(worth_a_word) and all(row.sent_back >= row.amount for row in worth_a_word),
        all_asked_back=bool(worth_a_word) and all(row.asked_back >= row.amount for row in worth_a_word),
    )


def _rank(row: Credit) -> tuple[datetime, bool, bool, bool]:
    """Return the sort key: of deposits alike in one second, the one on its way is answered last."""
    return row.mined_at, row.is_built, not row.is_overdue, row.is_final


def _select_notable(payments: Sequence[Credit], price: int | None) -> list[Credit]:
    """Return the payments that are worth a word each; all, if the others are worth one together."""
    notable = [row for row in payments if _is_notable([row], price)]
    small = [row for row in payments if not _is_notable([row], price)]
    return list(payments) if _is_notable(small, price) or not notable else notable


def _count_kept(row: Credit) -> int:
    return max(0, row.amount - row.asked_back)


def _select_waiting(rows: Sequence[Credit]) -> Iterator[Credit]:
    """Yield the deposits that nothing has answered."""
    answers = Counter(
        row.bridge_key
        for row in rows
        if row.kind == TransferKind.PAYMENT or (row.kind == TransferKind.BRIDGE_REFUND and row.is_final)
    )
    redirected = _find_redirected(rows)
    for row in rows:
        if row.kind == TransferKind.DEPOSIT and row.bridge_key not in redirected:
            if answers[row.bridge_key]:
                answers[row.bridge_key] -= 1
            else:
                yield row


def _find_redirected(rows: Sequence[Credit]) -> frozenset[str]:
    """Return what the deposits have in common with what was delivered to somebody else."""
    return frozenset(row.bridge_key for row in rows if row.kind == TransferKind.REDIRECTED)


def _is_refunded_by_bridge(rows: Sequence[Credit]) -> bool:
    built = {row.bridge_key for row in rows if row.kind == TransferKind.DEPOSIT and row.is_built}
    return any(row.kind == TransferKind.BRIDGE_REFUND and row.is_final and row.bridge_key in built for row in rows)


def _find_first_at(rows: Sequence[Credit], price: int | None) -> datetime | None:
    """Return when the order's money had become worth a word: by a deposit, or by all that had come by then."""
    came, redirected = 0, _find_redirected(rows)
    for row in rows:
        if row.is_after_close:
            continue
        if row.kind == TransferKind.DEPOSIT and row.is_built and row.bridge_key not in redirected:
            return row.mined_at
        if row.kind == TransferKind.PAYMENT:
            came += row.amount if row.is_settlement_token else 0
            if _is_notable([row], price) or (row.is_settlement_token and came * NOTABLE_SHARE >= (price or 0)):
                return row.mined_at
    return None


def _find_paid_at(rows: Sequence[Credit], in_time: Sequence[Credit], price: int | None) -> datetime | None:
    """Return when the price had come together, each delivery at the moment of the deposit that it answers."""
    deposits: dict[str, datetime] = {}
    for row in rows:
        if row.kind == TransferKind.DEPOSIT:
            deposits.setdefault(row.bridge_key, row.mined_at)
    came = 0
    moments = ((min(row.mined_at, deposits.get(row.bridge_key, row.mined_at)), row) for row in in_time)
    for moment, row in sorted(moments, key=lambda pair: pair[0]):
        came += _count_kept(row)
        if price is not None and came >= price:
            return moment
    return None


def _is_notable(payments: Sequence[Credit], price: int | None) -> bool:
    """Whether payments are worth a hundredth of the price together, or one of them is in a token that is."""
    if any(row.is_notable for row in payments if not row.is_settlement_token):
        return True
    wanted = [row for row in payments if row.is_settlement_token]
    return bool(wanted) and sum(row.amount for row in wanted) * NOTABLE_SHARE >= (price or 0)

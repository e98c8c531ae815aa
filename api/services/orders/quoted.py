"""What payers were quoted for what they sent, as far as what their wallets were given and what came agree.

A chain shows what arrived, and what went into a bridge. What a payer's wallet gave for it in another token, before a
swap, no transfer tells: only the quote does that the wallet was given. So words and books rest on it, and no amount
that counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Select, bindparam, func, or_, select
from sqlalchemy.orm import Session

from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.services.routing.token_serializers import checksum
from api.storage.statements import Place, Statement
from api.storage.tables import Payment, QuotePayer, StoredQuote

LATEST = 20
"""Quotes that a wallet was given for an order and that are looked at, the latest before its payment was seen."""
TEXTS = (
    *("chain_id", "token_address", "token_symbol", "token_decimals"),
    *("amount_in", "amount_in_max", "amount_out", "settlement_chain_id"),
)
"""What is read of a quote's body, which is long."""

Payer = tuple[str, str]
"""An order's id and a wallet's address."""


def _select_quotes(of_orders: Any) -> Select[Any]:
    """Select what the payers of some orders were given: each payer once, however often somebody pays specks."""
    payers = (
        select(
            Payment.order_id,
            Payment.sender,
            func.max(Payment.seen_at).label("seen_at"),
            func.max(Payment.mined_at).label("mined_at"),
        )
        .where(
            of_orders,
            Payment.kind != TransferKind.REFUND,
            *(Payment.state != each for each in sorted(GONE)),
        )
        .group_by(Payment.order_id, Payment.sender)
        .cte("payers")
    )
    place = func.row_number().over(
        partition_by=(QuotePayer.order_id, QuotePayer.payer), order_by=QuotePayer.quote_id.desc()
    )
    given = (
        select(
            QuotePayer.order_id,
            QuotePayer.payer,
            QuotePayer.quote_id,
            place.label("place"),
        )
        .join(payers, (payers.c.order_id == QuotePayer.order_id) & (payers.c.sender == QuotePayer.payer))
        .join(StoredQuote, StoredQuote.id == QuotePayer.quote_id)
        .where(or_(StoredQuote.created_at <= payers.c.seen_at, StoredQuote.created_at <= payers.c.mined_at))
        .subquery("given")
    )
    # Bodies are taken apart last, of few quotes: that is what takes the time.
    return (
        select(
            *(given.c.order_id, given.c.payer, given.c.quote_id, StoredQuote.created_at),
            *(StoredQuote.body[name].as_string().label(name) for name in TEXTS),
        )
        .join(StoredQuote, StoredQuote.id == given.c.quote_id)
        .where(given.c.place <= LATEST)
        .order_by(given.c.quote_id.desc())
    )


_OF_ORDER = Statement(_select_quotes(Payment.order_id == bindparam("order_id")))
_OF_ORDERS = _select_quotes(Payment.order_id.in_(bindparam("order_ids", expanding=True)))


def read_given(place: Place, order_id: str) -> Sequence[Any]:
    """Return the quotes that an order's payers were given before their payments were seen, the latest first."""
    return _OF_ORDER.fetch(place, {"order_id": order_id})


def load_given(session: Session, order_ids: Collection[str]) -> Sequence[Any]:
    """Return the same of several orders."""
    return session.execute(_OF_ORDERS, {"order_ids": tuple(order_ids)}).all() if order_ids else ()


def group_by_payer(given: Iterable[Any]) -> Mapping[Payer, list[Any]]:
    """Return quotes by who was given them, in their sequence."""
    found: dict[Payer, list[Any]] = defaultdict(list)
    for quote in given:
        found[quote.order_id, quote.payer].append(quote)
    return found


def choose_quote(given: Iterable[Any], origin: Any, arrived: int | None) -> Any | None:
    """Return the quote that a wallet was given last before its transfer was seen, of those that fit; None without one.

    Parameters
    ----------
    given : iterable
        What the wallet was given for the order, the latest first.
    origin : Payment or row
        What the wallet sent: a deposit into a bridge, or a payment to the merchant.
    arrived : int or None
        How much the merchant got for it, in smallest units; None of what is on its way, or did not arrive.
    """
    is_deposit = origin.kind == TransferKind.DEPOSIT
    for quote in given:
        if quote.created_at > max(origin.seen_at, origin.mined_at) or str(quote.chain_id) != str(origin.chain_id):
            continue
        crosses, wanted = int(quote.settlement_chain_id) != origin.chain_id, int(quote.amount_out)
        fits = arrived is None or (arrived >= wanted if is_deposit else arrived == wanted)
        if crosses == is_deposit and fits:
            return quote
    return None


def describe_quoted(quote: Any | None, origin: Any) -> dict[str, Any] | None:
    """Describe to a vendor what a payer was quoted for what came; None where no quote is known."""
    if quote is None:
        return None
    return {
        "chain_id": int(quote.chain_id),
        "token": checksum(quote.token_address),
        "symbol": quote.token_symbol,
        "decimals": int(quote.token_decimals),
        "amount": str(quote.amount_in),
        "amount_max": str(quote.amount_in_max),
        "hash": origin.tx_hash,
    }

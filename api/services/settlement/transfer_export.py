"""What reached a vendor and what it sent back, as CSV: one line for each transfer, whether it has an order or none.

It is read page by page as orders are (see `api.services.orders.export`): what is in memory is one page, and nothing is
open or locked while a client reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, Select, and_, func, or_, select, tuple_
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.payments import GONE
from api.domain.transfer_filter import TransferFilter
from api.domain.transfers import TransferKind
from api.services.orders.csv_cells import make_safe, write_address, write_amount, write_cell, write_lines
from api.services.orders.quoted import Payer, choose_quote, group_by_payer, load_given
from api.services.resources import Resources
from api.services.settlement.crediting.unmatched_transfers import has_reached, is_unmatched
from api.services.vendors.owned_addresses import Owner
from api.storage.tables import Payment, PaymentOrder, Refund
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

PAGE = 250
COLUMNS = (
    *("moved_at", "kind", "status", "payment_order_id", "transfer_id", "refund_of", "env_mode"),
    *("chain_id", "chain", "token_symbol", "token_address", "amount", "amount_decimal"),
    *("is_settlement_token", "is_after_close", "payer", "merchant_address", "transaction_hash"),
    *("source_chain_id", "source_transaction_hash", "refund_note"),
    *("quoted_chain_id", "quoted_token_symbol", "quoted_token_address", "quoted_amount", "quoted_amount_decimal"),
)
"""`amount` is in smallest units, `amount_decimal` the same in whole ones."""


class LineKind(StrEnum):
    """What a line tells: money that reached an order, money that went back, or money that belongs to no order."""

    PAYMENT = "payment"
    REFUND = "refund"
    UNMATCHED = "unmatched"


_READ: tuple[Any, ...] = (
    *(Payment.id, Payment.public_id, Payment.kind, Payment.order_id, Payment.state, Payment.mined_at),
    *(Payment.chain_id, Payment.token_address, Payment.amount, Payment.sender, Payment.recipient, Payment.tx_hash),
    *(Payment.source_chain_id, Payment.source_tx_hash, Payment.bridge_id, Payment.is_after_close, Payment.refund_id),
    Payment.seen_at,
    *(PaymentOrder.settlement_chain_id, PaymentOrder.settlement_token_address),
    *(PaymentOrder.settlement_token_symbol, PaymentOrder.settlement_token_decimals),
)
_PAGE = (
    select(*_READ)
    .outerjoin(PaymentOrder, PaymentOrder.id == Payment.order_id)
    .order_by(Payment.mined_at, Payment.id)
    .limit(PAGE)
)


def export_transfers(resources: Resources, owner: Owner, wanted: TransferFilter) -> Iterator[str]:
    """Yield the header, and then the transfers oldest first, some lines at a time.

    What is seen after the beginning is left out.

    Raises
    ------
    OperationalError
        If the database goes away meanwhile: what was yielded is then not all.
    """
    yield write_lines([COLUMNS])
    with resources.database.read() as session:
        found = select_transfers(session, owner, wanted)
        last = session.scalar(select(func.max(Payment.id)))
    if last is None:
        return
    query = found.where(Payment.id <= last)
    page = query
    while True:
        with resources.database.read_one_state() as session:
            rows = session.execute(page).all()
            lines = _describe(session, EnvMode(owner[1]), rows)
        if not rows:
            return
        yield write_lines(lines)
        page = query.where(tuple_(Payment.mined_at, Payment.id) > (rows[-1].mined_at, rows[-1].id))


def select_transfers(session: Session, owner: Owner, wanted: TransferFilter) -> Select[Any]:
    """Return the query of a page of a vendor's transfers, by their time and beginning with the first."""
    vendor_id, env_mode = owner
    of_own_order = and_(
        PaymentOrder.vendor_id == vendor_id,
        PaymentOrder.env_mode == env_mode,
        Payment.kind.in_((TransferKind.PAYMENT, TransferKind.REFUND)),
        Payment.state.not_in(GONE),
    )
    return _PAGE.where(
        Payment.env_mode == env_mode,
        or_(of_own_order, and_(is_unmatched(), has_reached(session, owner))),
        *([Payment.mined_at >= wanted.moved_from] if wanted.moved_from is not None else ()),
        *([Payment.mined_at < wanted.moved_to] if wanted.moved_to is not None else ()),
    )


def _describe(session: Session, env_mode: EnvMode, rows: Sequence[Row[Any]]) -> list[list[str]]:
    deposits, refunded = _load_deposits(session, env_mode, rows), _load_refunded(session, rows)
    given = group_by_payer(load_given(session, {row.order_id for row in rows if row.order_id is not None}))
    return [
        [
            *_describe_transfer(row, env_mode, deposits.get(row.bridge_id), refunded.get(row.refund_id)),
            *_describe_quoted(row, deposits.get(row.bridge_id), given),
        ]
        for row in rows
    ]


def _load_deposits(session: Session, env_mode: EnvMode, rows: Sequence[Row[Any]]) -> Mapping[str, Any]:
    """Return what went into bridges for these transfers, by what both have in common."""
    bridged = {row.bridge_id for row in rows if row.bridge_id}
    query = select(
        *(Payment.bridge_id, Payment.kind, Payment.sender, Payment.chain_id, Payment.tx_hash),
        *(Payment.seen_at, Payment.mined_at),
    ).where(
        Payment.bridge_id.in_(bridged),
        Payment.kind == TransferKind.DEPOSIT,
        Payment.env_mode == env_mode,
        Payment.state.not_in(GONE),
    )
    return {row.bridge_id: row for row in session.execute(query)} if bridged else {}


def _load_refunded(session: Session, rows: Sequence[Row[Any]]) -> Mapping[int | None, Any]:
    """Return of which transfers these give something back, and the vendor's note of that, by the refund."""
    ids = {row.refund_id for row in rows if row.refund_id is not None}
    query = select(Refund.id, Refund.note, Payment.public_id).join(Payment, Payment.id == Refund.payment_id)
    return {row.id: row for row in session.execute(query.where(Refund.id.in_(ids)))} if ids else {}


def _describe_transfer(row: Row[Any], env_mode: EnvMode, deposit: Any, refund: Any) -> list[str]:
    goes_back, is_settled = row.kind == TransferKind.REFUND, _is_settled(row)
    symbol, decimals = _find_token(row, is_settled=is_settled)
    chain = CHAINS.get(row.chain_id)
    payer, merchant = (row.recipient, row.sender) if goes_back else (_find_payer(row, deposit), row.recipient)
    return [
        *(
            format_time(row.mined_at),
            _find_kind(row),
            row.state,
            row.order_id or "",
            row.public_id,
            refund.public_id if refund else "",
            env_mode,
        ),
        *(str(row.chain_id), chain.name if chain else "", make_safe(symbol), write_address(row.token_address)),
        *write_amount(row.amount, decimals),
        *map(_write_flag, (is_settled, None if row.order_id is None else row.is_after_close)),
        *map(write_address, (payer, merchant)),
        row.tx_hash,
        write_cell(deposit.chain_id if deposit else row.source_chain_id),
        write_cell(deposit.tx_hash if deposit else row.source_tx_hash),
        make_safe(refund.note or "") if refund else "",
    ]


def _describe_quoted(row: Row[Any], deposit: Any, given: Mapping[Payer, Sequence[Any]]) -> list[str]:
    """Return what the payer of a transfer was quoted for it; empty where no quote is known."""
    origin, quote = deposit or row, None
    if row.kind == TransferKind.PAYMENT and (deposit or not (row.bridge_id or row.source_tx_hash)):
        quote = choose_quote(given.get((row.order_id, origin.sender), ()), origin, row.amount)
    if quote is None:
        return [""] * 5
    amounts = write_amount(int(quote.amount_in), int(quote.token_decimals))
    return [quote.chain_id, make_safe(quote.token_symbol), write_address(quote.token_address), *amounts]


def _find_kind(row: Row[Any]) -> LineKind:
    if row.order_id is None:
        return LineKind.UNMATCHED
    return LineKind.REFUND if row.kind == TransferKind.REFUND else LineKind.PAYMENT


def _is_settled(row: Row[Any]) -> bool | None:
    """Whether it moved the token that its order asked for, on its chain; None without an order."""
    if row.order_id is None:
        return None
    wanted = (row.settlement_chain_id, row.settlement_token_address)
    return (row.chain_id, row.token_address) == wanted


def _find_token(row: Row[Any], *, is_settled: bool | None) -> tuple[str, int | None]:
    """Return a token's symbol and decimals; empty and None where nobody lists it."""
    if is_settled:
        return row.settlement_token_symbol or "", row.settlement_token_decimals
    info = token_registry.info_of(row.chain_id, row.token_address)
    return ("", None) if info is None else (info.symbol, info.on(row.chain_id).decimals)


def _find_payer(row: Row[Any], deposit: Row[Any] | None) -> str:
    """Return whose money came: of what a bridge delivered, whoever put it in; empty where that is not known."""
    if deposit is not None:
        return str(deposit.sender)
    return "" if row.bridge_id else str(row.sender)


def _write_flag(flag: bool | None) -> str:
    return "" if flag is None else str(flag).lower()

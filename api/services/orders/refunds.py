"""Give back what reached a merchant: its own wallet signs, and the chain tells when it is done.

The service holds no key. It says which transfer is due, with a reference of its own behind the calldata, and finds it
on the chain by that; nobody has to report a hash. Whatever arrived can be sent back, in part or whole, whatever became
of its order, once its chain can't lose it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from api.domain.errors import Conflict, InvalidData, Problem
from api.domain.ids import make_reference
from api.domain.ledger import Ledger
from api.domain.money import rescale_up
from api.domain.payments import Evidence
from api.services.orders.money import Money, is_credited
from api.services.orders.payers import RefundSource, is_sink
from api.services.orders.unfinal_money import refuse_unfinal
from api.services.orders.worth import is_notable
from api.storage.tables import Payment, PaymentOrder, Refund
from routing_engine.reference import token_registry

MOST_OPEN_OF_TRANSFER, MOST_OPEN = 10, 50
"""Refunds that no chain has made final yet, of one transfer and of an order. Each is watched for until it is, and a
transfer is seldom shared by more than a handful: so who wants to divide one further signs some first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRequest:
    """What a vendor wants to send back.

    Parameters
    ----------
    transfer : str or None
        Public id of the transfer that brought it; needed where there are several.
    amount : int or None
        In units of ``10**-decimals`` of that transfer's token; all that is left of it without it.
    decimals : int or None
        Those of the token without it.
    to : str or None
        In lower case; whoever paid without it.
    note : str or None
        The vendor's own reason or number.
    has_key : bool
        Whether it came with an `Idempotency-Key`: then only that key tells a repetition from a further refund.
    """

    transfer: str | None = None
    amount: int | None = None
    decimals: int | None = None
    to: str | None = None
    note: str | None = None
    has_key: bool = False


def find_source(
    order: PaymentOrder, money: Money, request: RefundRequest, now: datetime, ledger: Ledger | None
) -> RefundSource:
    """Return what a request is about.

    Parameters
    ----------
    ledger : Ledger or None
        Its chains, as far as they are connected.

    Raises
    ------
    Conflict
        If there is nothing to send back, or its chain may lose it still, or that of its deposit the deposit.
    InvalidData
        Naming `transfer`, where there are several or none of this id, or an `amount` that it never had.
    """
    row = _choose_payment(order, money, request)
    amount = _count_units(order, row, request)
    if amount is not None and amount > row.amount:
        raise InvalidData.at("amount", _say_most(order, row, request, row.amount, "what the transfer brought"))
    if (unfinal := money.find_unfinal(row)) is not None:
        raise refuse_unfinal(unfinal, now, ledger)
    origin = money.find_origin(row)
    is_told = row.evidence != Evidence.ASSIGNED
    return RefundSource(
        payment_id=row.id,
        amount=amount,
        payer=origin.sender if origin is not None and is_told else "",
        paid_on=(origin or row).chain_id,
        arrived_on=row.chain_id,
        token_address=row.token_address,
        sender=row.recipient,
        is_certain=origin is None or origin is row or origin.is_built,
    )


def request_refund(
    session: Session,
    order: PaymentOrder,
    money: Money,
    request: RefundRequest,
    source: RefundSource,
    now: datetime,
) -> Refund:
    """Note that a vendor wants to send money back; without a key, the same request again changes nothing.

    Parameters
    ----------
    source : RefundSource
        What the request is about; its payer is empty where the vendor must say whom to pay.

    Raises
    ------
    Conflict
        If nothing is left of the transfer, if it is final no more, or, naming `transfer`, if too many refunds wait to
        be signed and final.
    InvalidData
        Naming `amount` or `to`.
    """
    row = next((each for each in money.received if each.id == source.payment_id), None)
    if row is None:  # it was lost, or taken away by hand, since the order was read
        raise Conflict("The transfer does not belong to this order any more")
    if money.find_unfinal(row) is not None:  # nor what has come to its place meanwhile, whosever that is
        raise Conflict("Its chain may lose the transfer again; ask again")
    recipient = _choose_recipient(row, request, source)
    earlier = None if request.has_key else _find_same(money, row, recipient, source.amount, request.note)
    if earlier is not None:
        return earlier
    left = row.amount - money.asked_back(row.id)
    if left <= 0:
        raise Conflict(_say_all_goes_back(money, row))
    amount = left if source.amount is None else source.amount
    if not 0 < amount <= left:
        raise InvalidData.at("amount", _say_most(order, row, request, left, "what is left of the transfer"))
    _require_few_open(money, row)
    made = Refund(
        order_id=order.id,
        payment_id=row.id,
        chain_id=row.chain_id,
        token_address=row.token_address,
        sender=row.recipient,
        recipient=recipient,
        amount=amount,
        reference=make_reference(),
        note=request.note,
        vendor_id=order.vendor_id,
        env_mode=order.env_mode,
        created_at=now,
    )
    session.add(made)
    session.flush()
    return made


def _choose_payment(order: PaymentOrder, money: Money, request: RefundRequest) -> Payment:
    """Return the transfer that is meant; a stranger's dust makes no request ambiguous."""
    rows = money.received
    if request.transfer is not None:
        found = next((row for row in rows if row.public_id == request.transfer), None)
        if found is None:
            raise InvalidData.at("transfer", f"Not a transfer of this order; there is {_join_ids(rows) or 'none'}")
        return found
    if not rows:
        raise Conflict(
            "There is nothing to send back: nothing has reached the merchant for this order; transfers show what does"
        )
    rows = [row for row in rows if is_notable(order, row)] or rows
    if len(rows) > 1:
        raise InvalidData.at("transfer", f"Required: the order has several transfers, {_join_ids(rows)}")
    return rows[0]


def _count_units(order: PaymentOrder, row: Payment, request: RefundRequest) -> int | None:
    """Return how many smallest units of its token are asked for, never rounded; None for all that is left."""
    if request.amount is None or request.decimals is None:
        return request.amount
    if (decimals := _find_decimals(order, row)) is None:
        raise InvalidData.at("decimals", "Leave it out, and give `amount` in smallest units: the token is not listed")
    units = rescale_up(request.amount, from_decimals=request.decimals, to_decimals=decimals)
    if units.rounded_up:
        raise InvalidData.at("amount", f"Is finer than the token can be sent: it has {decimals} decimals on its chain")
    return units.amount


def _find_decimals(order: PaymentOrder, row: Payment) -> int | None:
    if is_credited(order, row):
        return order.settlement_token_decimals
    info = token_registry.info_of(row.chain_id, row.token_address)
    return None if info is None else info.on(row.chain_id).decimals


def _say_most(order: PaymentOrder, row: Payment, request: RefundRequest, most: int, what: str) -> str:
    """Say which amounts there are, counted as the request counts them."""
    decimals, places = _find_decimals(order, row), request.decimals
    if decimals is not None and places is not None and (whole := most * 10**places // 10**decimals):
        return f"Must be 1 to {whole} with decimals {places}, {what}"
    return f"Must be 1 to {most}, {what} in its smallest units"


def _join_ids(rows: list[Payment]) -> str:
    return ", ".join(row.public_id for row in rows)


def _choose_recipient(row: Payment, request: RefundRequest, source: RefundSource) -> str:
    if request.to is None:
        if not source.payer:
            raise InvalidData.at("to", "Required: who paid can't be told for certain; ask the customer for an address")
        return source.payer
    if request.to in (row.recipient, row.token_address) or is_sink(row.chain_id, request.to):
        raise InvalidData.at("to", "The money would be lost, or stay where it is; give the customer's address")
    return request.to


def _say_all_goes_back(money: Money, row: Payment) -> str:
    if any(each.payment_id == row.id and money.is_awaited(each) for each in money.refunds):
        return "All of this transfer goes back already; `refunds` of the order has what is to be signed"
    return "All of this transfer has gone back already; `refunds` of the order has the transactions"


def _require_few_open(money: Money, row: Payment) -> None:
    """Refuse one more refund while many are open; one that is final or cancelled is open no more."""
    still_open = [each.payment_id for each in money.refunds if money.is_awaited(each)]
    of_transfer = still_open.count(row.id)
    if of_transfer < MOST_OPEN_OF_TRANSFER and len(still_open) < MOST_OPEN:
        return
    said = f"of this transfer, at most {MOST_OPEN_OF_TRANSFER}" if of_transfer >= MOST_OPEN_OF_TRANSFER else ""
    message = f"Too many refunds are open {said or f'for this order, at most {MOST_OPEN}'}"
    remedy = "Sign the transactions in `refunds` of the order, and ask again once they are final; or cancel some"
    raise Conflict(message, Problem(path="transfer", message=remedy))


def _find_same(money: Money, row: Payment, recipient: str, amount: int | None, note: str | None) -> Refund | None:
    """Return what the same request has made before and is not done yet: then it is taken for a repetition."""
    asked = (row.id, recipient, note)
    mine = [each for each in money.refunds if (each.payment_id, each.recipient, each.note) == asked]
    if amount is None and money.asked_back(row.id) < row.amount:
        return None  # it is about the rest, whatever was asked for before
    fits = (each for each in reversed(mine) if amount in (None, each.amount) and money.is_open(each))
    return next(fits, None)

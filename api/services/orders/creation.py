"""Make payment orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Faults, InvalidData
from api.domain.ids import IdPrefix, make_id, make_reference
from api.domain.item_prices import refuse_wrong_prices
from api.domain.money import UINT256_MAX, Rescaled, rescale_up
from api.domain.orders import DEFAULT_LIFE, MAX_LIFE, MIN_LIFE, OrderStatus, StatusReason
from api.services.orders.metadata_index import list_entries
from api.services.orders.money import NO_MONEY
from api.services.orders.price_views import describe_price
from api.services.orders.store import find_event, make_entry
from api.services.orders.vendor_facts import VendorFacts, read_facts
from api.services.resources import Resources
from api.services.vendors.settlement_choice import choose_account, list_wanted
from api.services.vendors.vendors import Account
from api.services.webhooks.outbox import choose_subscriptions, make_rows
from api.storage.rows import NewRow
from api.storage.tables import PaymentOrder
from routing_engine.reference import token_registry


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """What a merchant's application asks for, already checked for form."""

    line_items: Sequence[Mapping[str, Any]]
    order_price: Mapping[str, Any]
    env_mode: EnvMode
    success_callback_url: str
    cancel_callback_url: str
    failure_callback_url: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None


def create_link(resources: Resources, vendor_id: str, link: NewLink) -> Mapping[str, Any]:
    """Make an order and say where the customer pays; the vendor's receivers are told in the same transaction.

    One query reads what it rests on, and all its rows are written at once (ADR 81).

    Returns
    -------
    mapping
        ``payment_order_id`` and ``payment_url``, and ``expires_at`` and ``order_price`` as the order has them.

    Raises
    ------
    InvalidData
        Naming the property that can't be.
    Conflict
        If the vendor receives this currency on a chain that is not connected.
    """
    now = resources.clock.now()
    order_id = make_id(IdPrefix.ORDER, now)
    given, faults = link.order_price["currency"], Faults()
    with faults.gather():
        refuse_wrong_prices(link.line_items, link.order_price)
    with faults.gather():
        expires_at = _choose_expiry(link.expires_at, now)
    with resources.database.look() as place, faults.gather():
        facts = read_facts(place, vendor_id, link.env_mode, list_wanted(given))
        currency, account = choose_account(resources, place, vendor_id, link.env_mode, given, facts.accounts)
        due = None if account is None else _scale_price(link.order_price, account)
    faults.refuse()
    order = _make_order(vendor_id, order_id, link, currency, facts, now)
    order.expires_at = expires_at
    if account is not None and due is not None:
        _settle_to(order, account, due)
    resources.database.write_rows(_list_rows(order, facts, now))
    return {
        "payment_order_id": order_id,
        "payment_url": f"{resources.config.base_url}/payment/{order_id}",
        "expires_at": format_time(expires_at),
        "order_price": describe_price(order),
    }


def _make_order(vendor_id: str, order_id: str, link: NewLink, currency: str, facts: VendorFacts, now: datetime) -> Any:
    """Return an object with the attributes of an order whose account is still to be added."""
    return SimpleNamespace(
        id=order_id,
        vendor_id=vendor_id,
        env_mode=link.env_mode,
        status=OrderStatus.CREATED,
        status_reason=StatusReason.NONE,
        line_items=[dict(item) for item in link.line_items],
        price_currency=currency,
        price_amount=link.order_price["amount"],
        price_decimals=link.order_price["decimals"],
        success_callback_url=link.success_callback_url,
        cancel_callback_url=link.cancel_callback_url,
        failure_callback_url=link.failure_callback_url,
        merchant_metadata=dict(link.metadata),
        amount_due=None,
        amount_received=0,
        payment_reference=make_reference(),
        start_heights=facts.heights,
        transaction_hash="",
        created_at=now,
        updated_at=now,
    )


def _list_rows(order: Any, facts: VendorFacts, now: datetime) -> list[NewRow]:
    """Return all rows of a new order, its event and those who hear of it included."""
    rows = [NewRow(table=PaymentOrder, given=vars(order)), *list_entries(order), make_entry(order, NO_MONEY, now)]
    event = find_event(order, NO_MONEY, now)
    if event is not None:
        rows += make_rows(event, choose_subscriptions(event, facts.subscriptions))
    return rows


def _scale_price(price: Mapping[str, Any], account: Account) -> Rescaled:
    due = rescale_up(price["amount"], from_decimals=price["decimals"], to_decimals=account.token_decimals)
    if due.amount > UINT256_MAX:
        message = f"Is more than a token can hold: {account.currency} has {account.token_decimals} decimals on chain"
        raise InvalidData.at("order_price.amount", message)
    return due


def _settle_to(order: Any, account: Account, due: Rescaled) -> None:
    info = token_registry.info_of(account.chain_id, account.token_address)
    order.settlement_chain_id = account.chain_id
    order.settlement_token_address = account.token_address
    order.settlement_token_symbol = info.symbol if info else account.currency
    order.settlement_token_decimals = account.token_decimals
    order.settlement_address = account.address
    order.settlement_amount = order.amount_due = due.amount
    order.price_rounded_up = due.rounded_up


def _choose_expiry(asked: datetime | None, now: datetime) -> datetime:
    if asked is None:
        return now + DEFAULT_LIFE
    if not now + MIN_LIFE <= asked <= now + MAX_LIFE:
        earliest, latest = format_time(now + MIN_LIFE), format_time(now + MAX_LIFE)
        raise InvalidData.at("expires_at", f"Must be 30 minutes to 30 days from now: {earliest} to {latest}")
    return asked

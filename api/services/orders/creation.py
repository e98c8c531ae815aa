"""Make payment orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from sqlalchemy import bindparam, select

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.domain.ids import IdPrefix, make_id, make_reference
from api.domain.item_prices import refuse_wrong_prices
from api.domain.money import UINT256_MAX, rescale_up
from api.domain.orders import DEFAULT_LIFE, MAX_LIFE, MIN_LIFE, OrderStatus, StatusReason
from api.services.orders.metadata_index import index_metadata
from api.services.orders.money import NO_MONEY
from api.services.orders.store import record_status
from api.services.resources import Resources
from api.services.vendors.settlement_choice import choose_account
from api.services.vendors.vendors import Account
from api.storage.rows import insert_row
from api.storage.statements import Place, Statement
from api.storage.tables import PaymentOrder, WatchCursor
from routing_engine.reference import token_registry

_CURSOR = WatchCursor.__table__.c
_HEIGHTS = Statement(select(_CURSOR.chain_id, _CURSOR.head_number).where(_CURSOR.env_mode == bindparam("env_mode")))


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


def create_link(resources: Resources, vendor_id: str, link: NewLink) -> Mapping[str, str]:
    """Make an order and say where the customer pays; the vendor's receivers are told in the same transaction.

    Returns
    -------
    mapping
        ``payment_order_id`` and ``payment_url``.

    Raises
    ------
    InvalidData
        Naming the property that can't be.
    Conflict
        If the vendor receives this currency on a chain that is not connected.
    """
    now = resources.clock.now()
    order_id = make_id(IdPrefix.ORDER, now)
    answer = {"payment_order_id": order_id, "payment_url": f"{resources.config.base_url}/payment/{order_id}"}
    with resources.database.write_directly() as place:
        _create(resources, place, vendor_id, order_id, link, now)
    return answer


def _create(resources: Resources, place: Place, vendor_id: str, order_id: str, link: NewLink, now: datetime) -> None:
    given = link.order_price["currency"]
    currency, account = choose_account(resources, place, vendor_id, link.env_mode, given)
    refuse_wrong_prices(link.line_items, link.order_price)
    order: Any = SimpleNamespace(
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
        payment_reference=make_reference(),
        start_heights=_read_heights(place, link.env_mode),
        transaction_hash="",
        expires_at=_choose_expiry(link.expires_at, now),
        created_at=now,
        updated_at=now,
    )
    if account is not None:
        _settle_to(order, account)
    insert_row(place, PaymentOrder, **vars(order))
    index_metadata(place, order)
    record_status(place, order, NO_MONEY, now)


def _read_heights(place: Place, env_mode: EnvMode) -> dict[str, int]:
    """Return the newest block of each chain that is known now: what was mined before never counts for the order."""
    return {str(chain_id): number for chain_id, number in _HEIGHTS.fetch(place, {"env_mode": env_mode})}


def _settle_to(order: Any, account: Account) -> None:
    scaled = rescale_up(order.price_amount, from_decimals=order.price_decimals, to_decimals=account.token_decimals)
    if scaled.amount > UINT256_MAX:
        message = f"Is more than a token can hold: {account.currency} has {account.token_decimals} decimals on chain"
        raise InvalidData.at("order_price.amount", message)
    info = token_registry.info_of(account.chain_id, account.token_address)
    order.settlement_chain_id = account.chain_id
    order.settlement_token_address = account.token_address
    order.settlement_token_symbol = info.symbol if info else account.currency
    order.settlement_token_decimals = account.token_decimals
    order.settlement_address = account.address
    order.settlement_amount = order.amount_due = scaled.amount
    order.price_rounded_up = scaled.rounded_up


def _choose_expiry(asked: datetime | None, now: datetime) -> datetime:
    if asked is None:
        return now + DEFAULT_LIFE
    if not now + MIN_LIFE <= asked <= now + MAX_LIFE:
        earliest, latest = format_time(now + MIN_LIFE), format_time(now + MAX_LIFE)
        raise InvalidData.at("expires_at", f"Must be 30 minutes to 30 days from now: {earliest} to {latest}")
    return asked

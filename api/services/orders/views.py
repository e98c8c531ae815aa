"""Orders as their vendor and their payer may see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.orders import OrderStatus, StatusReason
from api.services.orders.chain_reads import load_reads
from api.services.orders.main_transactions import choose_main, list_transactions
from api.services.orders.money import NO_MONEY, Money, load_money
from api.services.orders.order_versions import find_version
from api.services.orders.payability import (
    NotPayable,
    find_no_payment_reason,
    find_not_payable_reason,
    find_pay_until,
)
from api.services.orders.price_views import describe_price, write_due
from api.services.orders.reading import StoredOrder, find_unpaid_order, load_timelines, read_payable_order
from api.services.orders.refund_views import describe_refunds, describe_transfers
from api.services.orders.stranded_deposits import describe_stranded
from api.services.resources import Resources
from api.services.vendors.brands import make_brand
from api.storage.tables import PaymentOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicOrder:
    """What everybody who has the payment URL may know: no metadata, no key, nothing of other orders.

    Parameters
    ----------
    version : str
        Changes whenever there is something new: see `api.services.orders.order_versions`.
    price_amount, price_decimals : int
        The price in units of ``10**-price_decimals`` of `price_currency`.
    vendor_name, vendor_accent, vendor_support, vendor_logo : str
        As customers see the vendor: see `api.services.vendors.brands.Brand`; all but the name may be empty.
    is_simulated : bool
        Whether payments move on the simulated ledger only.
    not_payable_reason : str
        Empty, or one of `api.services.orders.payability`.
    settlement_… : int or str, or None
        Token, chain and address at which the merchant receives; None where the order is not payable.
    amount_due, amount_received : int or None, and int
        Settlement token's smallest units: what is still missing, and what came.
    payment_reference : bytes
        16 bytes that mark a payment as this order's.
    main_transactions : frozenset of tuple
        Chain and hash of those that weigh most: see `api.services.orders.main_transactions`.
    stranded : tuple of mapping
        Where the money is that set out over a bridge and did not arrive; see `api.services.orders.stranded_deposits`.
    timeline : tuple of mapping
        ``status``, ``status_reason``, ``at`` and ``transaction_hash``, oldest first.
    pay_until : datetime
        Until when a payment comes in time: later than `expires_at` where all that came for an open order came late.
    """

    order_id: str
    version: str
    vendor_id: str
    vendor_name: str
    vendor_accent: str
    vendor_support: str
    vendor_logo: str
    env_mode: EnvMode
    status: OrderStatus
    status_reason: StatusReason
    line_items: tuple[Mapping[str, Any], ...]
    price_currency: str
    price_amount: int
    price_decimals: int
    price_rounded_up: bool
    is_simulated: bool
    payable: bool
    not_payable_reason: str
    settlement_chain_id: int | None
    settlement_token_address: str | None
    settlement_token_symbol: str | None
    settlement_token_decimals: int | None
    settlement_address: str | None
    settlement_amount: int | None
    amount_due: int | None
    amount_received: int
    payment_reference: bytes
    transaction_hash: str
    main_transactions: frozenset[tuple[int, str]]
    stranded: tuple[Mapping[str, Any], ...]
    timeline: tuple[Mapping[str, str], ...]
    success_callback_url: str
    cancel_callback_url: str
    failure_callback_url: str
    created_at: datetime
    expires_at: datetime
    pay_until: datetime

    @property
    def is_paused(self) -> bool:
        """Whether it takes no payment only until its chain is read again."""
        return self.not_payable_reason == NotPayable.UNREAD_CHAIN


def load_public_order(resources: Resources, order_id: str) -> PublicOrder:
    """Return what the payment page shows of an order.

    Raises
    ------
    NotFound
        If there is none.
    """
    with resources.database.look() as place:
        stored = find_unpaid_order(place, order_id)
    if stored is None:
        with resources.database.look_at_one_state() as place:
            stored = read_payable_order(place, order_id)
    return describe_publicly(resources, stored)


def describe_order(resources: Resources, stored: StoredOrder) -> dict[str, Any]:
    """Describe an order to its vendor."""
    row = stored.row
    return _describe_privately(resources, row, stored.money, stored.timeline, row.settlement_read_at)


def describe_orders(resources: Resources, session: Session, orders: Iterable[PaymentOrder]) -> list[dict[str, Any]]:
    """Describe orders to their vendor, with four more queries however many they are."""
    rows = list(orders)
    ids = [row.id for row in rows]
    money, entries, reads = load_money(session, ids), load_timelines(session, ids), load_reads(session)
    read_at = {row.id: reads.get((row.env_mode, row.settlement_chain_id)) for row in rows}
    return [
        _describe_privately(resources, row, money.get(row.id, NO_MONEY), entries[row.id], read_at[row.id])
        for row in rows
    ]


def describe_changed(resources: Resources, session: Session, order: PaymentOrder, money: Money) -> dict[str, Any]:
    """Describe an order to its vendor who has just changed it, with what moved for it."""
    entries, reads = load_timelines(session, [order.id]), load_reads(session)
    read_at = reads.get((order.env_mode, order.settlement_chain_id))
    return _describe_privately(resources, order, money, entries[order.id], read_at)


def _describe_privately(
    resources: Resources, order: PaymentOrder, money: Money, timeline: list[dict[str, str]], read_at: datetime | None
) -> dict[str, Any]:
    reason = find_no_payment_reason(resources, order, money, read_at)
    return {
        "payment_order_id": order.id,
        "payment_order_status": order.status,
        "env_mode": order.env_mode,
        "success_callback_url": order.success_callback_url,
        "cancel_callback_url": order.cancel_callback_url,
        "failure_callback_url": order.failure_callback_url,
        "line_items": order.line_items,
        "order_price": describe_price(order),
        "transaction_hash": order.transaction_hash,
        "metadata": order.merchant_metadata,
        "status_reason": order.status_reason,
        "payment_url": f"{resources.config.base_url}/payment/{order.id}",
        "payable": not reason,
        "not_payable_reason": reason,
        "amount_due": write_due(order),
        "amount_received": str(order.amount_received),
        "settlement": _describe_settlement(order),
        "transactions": list_transactions(money),
        "transfers": describe_transfers(money),
        "refunds": describe_refunds(money),
        "stranded": describe_stranded(order, money),
        "timeline": timeline,
        "expires_at": format_time(order.expires_at),
        "created_at": format_time(order.created_at),
        "updated_at": format_time(order.updated_at),
    }


def _describe_settlement(order: PaymentOrder) -> dict[str, Any] | None:
    if order.settlement_chain_id is None:
        return None
    return {
        "chain_id": order.settlement_chain_id,
        "token_address": order.settlement_token_address,
        "token_symbol": order.settlement_token_symbol,
        "token_decimals": order.settlement_token_decimals,
        "address": order.settlement_address,
        "amount": str(order.settlement_amount),
        "rounded_up": order.price_rounded_up,
    }


def describe_publicly(resources: Resources, stored: StoredOrder) -> PublicOrder:
    """Describe an order to whoever has its payment URL."""
    order, money, brand = stored.row, stored.money, make_brand(stored.row)
    reason = find_not_payable_reason(resources, order, money, order.settlement_read_at)
    return PublicOrder(
        order_id=order.id,
        version=find_version(order.version, stored.transfers),
        vendor_id=order.vendor_id,
        vendor_name=brand.display_name or order.vendor_name,
        vendor_accent=brand.accent_color,
        vendor_support=brand.support,
        vendor_logo=brand.logo_file,
        env_mode=EnvMode(order.env_mode),
        status=OrderStatus(order.status),
        status_reason=StatusReason(order.status_reason),
        line_items=tuple(order.line_items),
        price_currency=order.price_currency,
        price_amount=order.price_amount,
        price_decimals=order.price_decimals,
        price_rounded_up=order.price_rounded_up,
        is_simulated=resources.is_simulated(EnvMode(order.env_mode)),
        payable=not reason,
        not_payable_reason=reason,
        settlement_chain_id=order.settlement_chain_id,
        settlement_token_address=order.settlement_token_address,
        settlement_token_symbol=order.settlement_token_symbol,
        settlement_token_decimals=order.settlement_token_decimals,
        settlement_address=order.settlement_address,
        settlement_amount=order.settlement_amount,
        amount_due=order.amount_due,
        amount_received=order.amount_received,
        payment_reference=order.payment_reference,
        transaction_hash=order.transaction_hash,
        main_transactions=choose_main(order, money.payments),
        stranded=tuple(describe_stranded(order, money)),
        timeline=tuple(stored.timeline),
        success_callback_url=order.success_callback_url,
        cancel_callback_url=order.cancel_callback_url,
        failure_callback_url=order.failure_callback_url,
        created_at=order.created_at,
        expires_at=order.expires_at,
        pay_until=find_pay_until(order, money),
    )

"""What a vendor does with its payment orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from api.domain.audit import AuditAction
from api.domain.env import EnvMode
from api.domain.order_filter import OrderFilter
from api.domain.orders import cancel as cancelled
from api.services.audit import record_change
from api.services.orders import refund_cancelling
from api.services.orders.creation import NewLink, create_link
from api.services.orders.metadata_index import describe_metadata_change, list_entries, replace_entries
from api.services.orders.money import Money, sum_funds
from api.services.orders.payers import require_accepted, require_reachable, require_taken
from api.services.orders.reading import read_arrivals, read_money, read_own_order
from api.services.orders.refund_limits import require_allowed
from api.services.orders.refund_views import describe_refund_change
from api.services.orders.refunds import RefundRequest, find_source, request_refund
from api.services.orders.search import build_conditions, continue_after
from api.services.orders.store import apply_step, find_order, get_state, settle
from api.services.orders.views import PublicOrder, describe_changed, describe_order, describe_orders
from api.services.resources import Resources
from api.storage.tables import PaymentOrder

__all__ = [
    "NewLink",
    "PublicOrder",
    "cancel",
    "cancel_refund",
    "change_metadata",
    "create_link",
    "get_order",
    "list_orders",
    "refund",
]


def get_order(resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str) -> Mapping[str, Any]:
    """Return one order as the interface shows it.

    Raises
    ------
    NotFound
        If there is none, or it is another vendor's, or of the other environment.
    """
    return describe_order(resources, read_own_order(resources.database, vendor_id, env_mode, order_id))


def list_orders(
    resources: Resources,
    vendor_id: str,
    env_mode: EnvMode,
    wanted: OrderFilter,
    *,
    limit: int,
    cursor: str | None = None,
) -> Mapping[str, Any]:
    """Return a page of orders, newest first.

    Parameters
    ----------
    wanted : OrderFilter
        Which ones.
    cursor : str, optional
        `next_cursor` of the page before.
    """
    conditions = [*build_conditions(vendor_id, env_mode, wanted), *continue_after(cursor)]
    query = select(PaymentOrder).where(*conditions)
    with resources.database.read() as session:
        rows = session.scalars(query.order_by(PaymentOrder.id.desc()).limit(limit + 1)).all()
        page = rows[:limit]
        return {
            "data": describe_orders(resources, session, page),
            "next_cursor": page[-1].id if len(rows) > limit else None,
        }


def cancel(resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str) -> Mapping[str, Any]:
    """Take back an order that has not been paid in full; what comes for it later can be sent back.

    Raises
    ------
    Conflict
        If its status does not allow it.
    """

    def end(session: Session, order: PaymentOrder, money: Money, now: datetime) -> Money:
        apply_step(session, order, cancelled(get_state(order), sum_funds(order, money)), money, now)
        return money

    return _act(resources, vendor_id, env_mode, order_id, end)


def refund(
    resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str, request: RefundRequest, *, by: str
) -> Mapping[str, Any]:
    """Send back some or all of what reached the merchant for an order, whatever its status.

    `refunds` of the answer has the transactions for the merchant's own wallet. A simulated chain signs them itself.

    Parameters
    ----------
    by : str
        The id of the key that asks.

    Raises
    ------
    Conflict
        If there is nothing to send back, or its chain may lose it still.
    InvalidData
        Naming the property that is missing or wrong.
    Unavailable
        If a chain or the check of addresses does not answer.
    """
    with resources.database.read() as session:
        order = find_order(session, vendor_id, env_mode, order_id)
        ledger = resources.ledgers.get(env_mode)
        source = find_source(order, read_arrivals(session, order_id), request, resources.clock.now(), ledger)
    source = require_reachable(resources, env_mode, source)
    recipient = request.to or source.payer
    require_accepted(resources, recipient)
    require_taken(resources, env_mode, source, recipient)

    def give_back(session: Session, order: PaymentOrder, money: Money, now: datetime) -> Money:
        made = request_refund(session, order, money, request, source, now)
        require_allowed(session, order, made, source.payer)
        if made not in money.refunds:
            record_change(session, describe_refund_change(AuditAction.REFUND_REQUESTED, made), now)
            money = replace(money, refunds=[*money.refunds, made])
        # What goes back is due again at once: who paid the rest as it was before would not have paid the order.
        settle(session, order, money, now, may_expire=False)
        flag_modified(order, "amount_due")  # also where it stays: the order's page has news, so it gets a new version
        return money

    return _act(resources, vendor_id, env_mode, order_id, give_back, by=by)


def cancel_refund(
    resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str, refund_id: str, *, by: str
) -> Mapping[str, Any]:
    """Cancel a refund of which something is not sent yet; what it kept of its transfer is left to be asked for again.

    Parameters
    ----------
    by : str
        The id of the key that asks.

    Raises
    ------
    Conflict
        If all of it was sent.
    NotFound
        If there is no such order, or no such refund of it.
    """

    def end(session: Session, order: PaymentOrder, money: Money, now: datetime) -> Money:
        refund_cancelling.cancel_refund(session, money, refund_id, now)
        session.flush()
        money = read_money(session, order_id)
        settle(session, order, money, now, may_expire=False)
        flag_modified(order, "amount_due")
        return money

    return _act(resources, vendor_id, env_mode, order_id, end, by=by)


def change_metadata(
    resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str, metadata: Mapping[str, Any], *, by: str
) -> Mapping[str, Any]:
    """Put other metadata in the place of an order's, whatever its status; once more changes nothing.

    Nobody is told, and events that were made before keep what was true then.

    Parameters
    ----------
    by : str
        The id of the key that asks.

    Raises
    ------
    NotFound
        If there is no such order.
    """

    def replace_all(session: Session, order: PaymentOrder, money: Money, now: datetime) -> Money:
        before, entries = order.merchant_metadata, list(list_entries(order))
        order.merchant_metadata = dict(metadata)
        session.flush()
        replace_entries(session, order.id, entries, list_entries(order))
        if order.merchant_metadata != before:
            record_change(session, describe_metadata_change(order, before), now)
        return money

    return _act(resources, vendor_id, env_mode, order_id, replace_all, by=by)


def _act(
    resources: Resources,
    vendor_id: str,
    env_mode: EnvMode,
    order_id: str,
    action: Callable[[Session, PaymentOrder, Money, datetime], Money],
    *,
    by: str | None = None,
) -> Mapping[str, Any]:
    """Do something with a locked order, and describe it with what moved for it then: read once, as it may be much."""
    now = resources.clock.now()
    with resources.database.write(by) as session:
        order = find_order(session, vendor_id, env_mode, order_id, lock=True)
        money = action(session, order, read_money(session, order_id), now)
        session.flush()
        return describe_changed(resources, session, order, money)

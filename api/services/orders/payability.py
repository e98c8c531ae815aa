"""Whether anybody could pay an order."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from api.domain.env import EnvMode
from api.domain.orders import OrderState, OrderStatus, StatusReason, find_end
from api.services.orders.chain_reads import is_unread
from api.services.orders.money import Money, sum_funds
from api.services.resources import Resources
from api.services.vendors.vendors import make_simulated_address
from api.storage.tables import PaymentOrder


class NotPayable(StrEnum):
    """Why nobody could pay an order."""

    NONE = ""
    NO_ACCOUNT = "no_settlement_account"
    NO_CHAIN = "chain_not_connected"
    UNREAD_CHAIN = "chain_not_read"
    CLOSED = "order_closed"
    GOES_BACK = "refund_under_way"
    OUT_OF_TIME = "order_expired"
    NOTHING_DUE = "nothing_due"


def find_no_payment_reason(
    resources: Resources, order: PaymentOrder, money: Money, read_at: datetime | None
) -> NotPayable:
    """Say why an order takes no payment as it stands now; empty if somebody may pay it.

    Parameters
    ----------
    money : Money
        What moved for it.
    read_at : datetime or None
        When the chain was read last on which its merchant receives.
    """
    if order.status not in (OrderStatus.CREATED, OrderStatus.PROCESSING):
        return NotPayable.CLOSED
    if order.status == OrderStatus.CREATED and resources.clock.now() >= order.expires_at:
        return NotPayable.OUT_OF_TIME
    reason = find_not_payable_reason(resources, order, money, read_at)
    return reason if reason or is_due(order, money) else NotPayable.NOTHING_DUE


def is_due(order: PaymentOrder, money: Money) -> bool:
    """Whether somebody has to pay: some of the price has not come, and no bridge is about to deliver it."""
    return bool(order.amount_due) and not (money.payments and sum_funds(order, money).in_flight)


def find_not_payable_reason(
    resources: Resources, order: PaymentOrder, money: Money, read_at: datetime | None
) -> NotPayable:
    """Say why nobody can pay an order, whatever its status; empty if one could. See `find_no_payment_reason`."""
    if order.status == OrderStatus.PROCESSING:
        if money.refunds and sum_funds(order, money).all_asked_back:
            return NotPayable.GOES_BACK  # once it is back the order is closed, and a payment would not be delivered
        if order.amount_due and resources.clock.now() >= find_pay_until(order, money):
            return NotPayable.OUT_OF_TIME  # it fails once its chains are read up to then, whatever is sent meanwhile
    if order.settlement_chain_id is None:
        return NotPayable.NO_ACCOUNT
    env_mode = EnvMode(order.env_mode)
    if not resources.is_simulated(env_mode) and order.settlement_address == make_simulated_address(order.vendor_id):
        return NotPayable.NO_ACCOUNT  # an address that was made up for the simulated ledger: nobody has its key
    ledger = resources.ledgers.get(env_mode)
    if ledger is None or order.settlement_chain_id not in ledger.chain_ids:
        return NotPayable.NO_CHAIN
    return NotPayable.UNREAD_CHAIN if is_unread(resources, env_mode, read_at, order.created_at) else NotPayable.NONE


def find_pay_until(order: PaymentOrder, money: Money) -> datetime:
    """Return until when a payment for an order that is open comes in time."""
    if order.status != OrderStatus.PROCESSING:
        return order.expires_at
    state = OrderState(
        status=OrderStatus(order.status),
        reason=StatusReason(order.status_reason),
        amount=order.settlement_amount,
        expires_at=order.expires_at,
    )
    return find_end(state, sum_funds(order, money))

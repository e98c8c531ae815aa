"""What a vendor lets happen to its test orders; customers' pages can't ask for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.domain.simulation import AFTER_CLOSE, Action
from api.services.checkout.quotes import quote_order
from api.services.orders.money import NO_MONEY, load_money
from api.services.orders.store import find_order
from api.services.orders.views import describe_orders
from api.services.resources import Resources
from api.services.simulator import wallet as wallet
from api.services.simulator.actions import refuse_outstanding, require_simulated, require_test, run_action
from api.storage.tables import PaymentOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a vendor wants to happen.

    Parameters
    ----------
    quote_id : str, optional
        Quote of the order: the payer pays from its chain, with its token.
    chain_id, token : int and str, optional
        What the payer pays with instead: the order is quoted in it first.
    without_reference : bool
        Whether a payment names no order, as one does that an exchange sends.
    """

    action: Action
    quote_id: str | None = None
    chain_id: int | None = None
    token: str | None = None
    without_reference: bool = False


def simulate_for(
    resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str, wish: Wish
) -> Mapping[str, Any]:
    """Let something happen to a vendor's order, and return the order as it is then; the worker moves it on.

    What a customer's page can't ask for is here: `pay` for a closed order, and a payment that names no order.

    Raises
    ------
    InvalidData
        If something other than `pay` is to name no order, or a closed order is to be paid by a quote, or the token is
        unknown.
    NotFound
        If the vendor has no such order.
    Conflict
        If it is a live order, or its present state does not allow the action.
    """
    require_simulated(resources)
    if wish.without_reference and wish.action != Action.PAY:
        raise InvalidData.at("without_reference", "Goes with the action pay alone")
    if wish.chain_id is not None and wish.token is not None:
        quote_id = _make_quote(resources, vendor_id, env_mode, order_id, wish.chain_id, wish.token)
        wish = replace(wish, quote_id=quote_id)
    now = resources.clock.now()
    with resources.database.write() as session:
        order = find_order(session, vendor_id, env_mode, order_id, lock=True)
        if wish.without_reference:
            require_test(order)
            wallet.pay_direct(session, order, order.settlement_amount or 0, now, names_order=False)
        elif wish.action == Action.PAY and order.status in AFTER_CLOSE:
            if wish.quote_id is not None:
                raise InvalidData.at("quote_id", f"Leave it out: the order is {order.status}, and no quote pays it")
            _pay_again(session, order, now)
        else:
            run_action(session, order, wish.action, wish.quote_id, now)
        session.flush()
        return describe_orders(resources, session, [order])[0]


def _make_quote(
    resources: Resources, vendor_id: str, env_mode: EnvMode, order_id: str, chain_id: int, token: str
) -> str:
    """Quote an order in a token, as its page does; return the quote's id."""
    with resources.database.read() as session:
        order = find_order(session, vendor_id, env_mode, order_id)
        require_test(order)
        if order.status in AFTER_CLOSE:
            raise InvalidData.at("token", f"Leave it out: the order is {order.status}, and no quote pays it")
    if resources.market.token(chain_id, token) is None:
        raise InvalidData.at("token", f"Unknown token on chain {chain_id}; GET /v1/tokens has all")
    return quote_order(resources, order_id, chain_id, token).quote_id


def _pay_again(session: Session, order: PaymentOrder, now: datetime) -> None:
    """Pay the price for an order that is closed."""
    require_test(order)
    refuse_outstanding(session, order, load_money(session, [order.id]).get(order.id, NO_MONEY))
    wallet.pay_direct(session, order, order.settlement_amount or 0, now)

"""Where an order stands, in the customer's words: what the page shows and what its scripts poll."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from api.checkout_page.amounts import money
from api.checkout_page.redirects import with_outcome
from api.checkout_page.stranded import is_out, stranded_words
from api.checkout_page.strings import Strings, fill
from api.domain.orders import OrderStatus, StatusReason
from api.services.order_view import NO_ACCOUNT, PublicOrder
from api.services.simulated_actions import Action, allowed_actions
from routing_engine.chains import CHAINS


class Panel(StrEnum):
    """The parts of the page of which a state shows one."""

    PAY = "pay"
    PROGRESS = "progress"
    OUTCOME = "outcome"


class Tone(StrEnum):
    """How a state looks."""

    NEUTRAL = "neutral"
    NOTICE = "notice"
    PROGRESS = "progress"
    WARNING = "warning"
    SUCCESS = "success"
    FAILURE = "failure"


_S = OrderStatus
_TONES: Mapping[OrderStatus, Tone] = MappingProxyType(
    {
        _S.CREATED: Tone.NEUTRAL,
        _S.PROCESSING: Tone.PROGRESS,
        _S.SUCCESS: Tone.SUCCESS,
        _S.FAILED: Tone.FAILURE,
        _S.EXPIRED: Tone.WARNING,
        _S.CANCELLED: Tone.NEUTRAL,
        _S.REFUNDED: Tone.NEUTRAL,
    }
)
_REDIRECT_AFTER_S: Mapping[OrderStatus, int] = MappingProxyType({_S.SUCCESS: 8, _S.CANCELLED: 8, _S.FAILED: 20})
_STEPS: Mapping[OrderStatus, tuple[str, str, str]] = MappingProxyType(
    {
        _S.PROCESSING: ("done", "now", "todo"),
        _S.SUCCESS: ("done", "done", "done"),
    }
)
_FIRST_ACTIONS = (
    Action.UNDERPAY,
    Action.OVERPAY,
    Action.PAY_LATE,
    Action.WRONG_TOKEN,
    Action.REORG,
    Action.BRIDGE_DELAY,
    Action.BRIDGE_FAIL,
    Action.EXPIRE,
)
_ACTIONS: Mapping[OrderStatus, tuple[Action, ...]] = MappingProxyType(
    {
        _S.CREATED: _FIRST_ACTIONS,
        _S.PROCESSING: (Action.REORG, Action.EXPIRE),
        _S.EXPIRED: (Action.PAY_LATE,),
    }
)
"""What the page offers of it; paying is what its own button does."""
_WAITING = ("now", "todo", "todo")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageState:
    """What the page shows of an order at one moment.

    Parameters
    ----------
    panel : Panel
        The part that is visible.
    banner : mapping or None
        Title and text above the payment form, when something went wrong before.
    return_url : str or None
        The merchant's callback URL with the outcome, once there is one.
    redirect_after_s : int or None
        After how long a customer who saw the outcome happen is taken there; None if they decide themselves.
    stranded : tuple of mapping
        Where money is that a bridge did not deliver; see `stranded_words`.
    asks_if_paid : bool
        Whether to ask the customer for a payment that is not seen yet.
    test_actions : tuple of mapping
        ``action``, ``title`` and ``text`` of what can be simulated now.
    changes : int
        Grows with everything that happens to the order; tells news from what was known before.
    """

    payment_order_id: str
    payment_order_status: OrderStatus
    status_reason: StatusReason
    panel: Panel
    tone: Tone
    title: str
    text: str
    banner: Mapping[str, str] | None
    steps: tuple[Mapping[str, str], ...]
    stranded: tuple[Mapping[str, str | bool], ...]
    transactions: tuple[Mapping[str, str | bool | None], ...]
    return_url: str | None
    redirect_after_s: int | None
    asks_if_paid: bool
    can_cancel: bool
    test_actions: tuple[Mapping[str, str], ...]
    changes: int

    def json(self) -> dict[str, Any]:
        """Return the answer of the status endpoint."""
        return asdict(self)


def page_state(order: PublicOrder, now: datetime, strings: Strings) -> PageState:
    """Put an order's present state into words."""
    status, reason = _effective(order, now)
    panel = _panel(order, status)
    texts = fill(_texts(order, status, reason, panel, strings), **_values(order))
    is_pay = panel is Panel.PAY
    return PageState(
        payment_order_id=order.order_id,
        payment_order_status=status,
        status_reason=reason,
        panel=panel,
        tone=Tone.NOTICE if _is_unpayable(order, status) else _TONES[status],
        title=texts["title"],
        text=texts["text"],
        banner=texts if is_pay and reason else None,
        steps=tuple(_steps(order, status, strings)),
        stranded=tuple(stranded_words(order, isolated(order.vendor_name), strings)),
        transactions=tuple(_transactions(order)),
        return_url=with_outcome(_callback(order, status), order.order_id, status),
        redirect_after_s=None if is_out(order) else _REDIRECT_AFTER_S.get(status),
        asks_if_paid=status == _S.EXPIRED and order.payable,
        can_cancel=status == _S.CREATED,
        test_actions=tuple(_test_actions(order, status, strings)),
        changes=len(order.timeline) + len(order.transactions),
    )


def isolated(name: str) -> str:
    """Keep a name's writing direction from turning the sentence around it."""
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def _effective(order: PublicOrder, now: datetime) -> tuple[OrderStatus, StatusReason]:
    """Say that the time is over as soon as it is; the worker writes it down a moment later."""
    if order.status == _S.CREATED and now >= order.expires_at:
        return _S.EXPIRED, StatusReason.EXPIRED
    return order.status, order.status_reason


def _is_unpayable(order: PublicOrder, status: OrderStatus) -> bool:
    return status == _S.CREATED and not order.payable


def _is_short(order: PublicOrder) -> bool:
    """Whether the customer has to pay again."""
    return order.status_reason in {StatusReason.UNDERPAID, StatusReason.WRONG_TOKEN} and bool(order.amount_due)


def _panel(order: PublicOrder, status: OrderStatus) -> Panel:
    if status == _S.CREATED:
        return Panel.PAY if order.payable else Panel.OUTCOME
    if status == _S.PROCESSING:
        return Panel.PAY if order.payable and _is_short(order) else Panel.PROGRESS
    return Panel.OUTCOME


def _texts(
    order: PublicOrder, status: OrderStatus, reason: StatusReason, panel: Panel, strings: Strings
) -> dict[str, str]:
    if status == _S.CREATED and panel is Panel.OUTCOME:
        is_account = order.not_payable_reason == NO_ACCOUNT
        return strings.notice["not_payable" if is_account else "live_unavailable"]
    if is_out(order):
        return strings.notice["stranded"]
    return strings.of_status(status, reason)


def _values(order: PublicOrder) -> dict[str, str]:
    """Return what the texts' placeholders stand for."""
    decimals, symbol = order.settlement_token_decimals or 0, order.settlement_token_symbol or ""
    return {
        "merchant": isolated(order.vendor_name),
        "currency": order.price_currency,
        "price": money(order.price_amount, order.price_decimals, order.price_currency),
        "received": money(order.amount_received, decimals, symbol),
        "missing": money(order.amount_due or 0, decimals, symbol),
    }


def _steps(order: PublicOrder, status: OrderStatus, strings: Strings) -> Iterator[Mapping[str, str]]:
    words = fill(strings.steps, merchant=isolated(order.vendor_name))
    for name, state in zip(("paid", "confirming", "arrived"), _STEPS.get(status, _WAITING), strict=True):
        yield {"label": words[name], "state": state, "state_text": words[state]}


def _transactions(order: PublicOrder) -> Iterator[Mapping[str, str | bool | None]]:
    for row in order.transactions:
        chain = CHAINS.get(row["chain_id"])
        is_real = not order.is_simulated and chain is not None
        yield {
            "chain": chain.name if chain else str(row["chain_id"]),
            "hash": row["hash"],
            "explorer_url": chain.explorer_url(row["hash"]) if is_real and chain else None,
            "is_simulated": order.is_simulated,
        }


def _callback(order: PublicOrder, status: OrderStatus) -> str:
    """Choose the merchant's URL; a refund goes the way of a failure, so that nobody takes it for a payment."""
    match status:
        case _S.SUCCESS:
            return order.success_callback_url
        case _S.CANCELLED:
            return order.cancel_callback_url
        case _S.FAILED | _S.EXPIRED | _S.REFUNDED:
            return order.failure_callback_url
    return ""


def _test_actions(order: PublicOrder, status: OrderStatus, strings: Strings) -> Iterator[Mapping[str, str]]:
    possible = allowed_actions(order)
    for action in _ACTIONS.get(status, ()):
        if action in possible:
            yield {"action": action, **strings.simulate[action]}

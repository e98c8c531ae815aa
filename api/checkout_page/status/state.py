"""Where an order stands, in the customer's words: what the page shows and what its scripts poll."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any

from api.checkout_page.language.strings import Strings, isolate
from api.checkout_page.look.branding import Contact, find_contact
from api.checkout_page.money.amount_rows import describe_amounts
from api.checkout_page.money.amounts import format_moment
from api.checkout_page.money.stranded import describe_stranded, is_out
from api.checkout_page.money.transfers import describe_left_out, describe_on_its_way, list_transactions
from api.checkout_page.status.panels import Panel, Tone, choose_panel, choose_tone, is_paused, is_undone, takes_more
from api.checkout_page.status.progress import Step, describe_stages
from api.checkout_page.status.receipt import describe_receipt
from api.checkout_page.status.redirects import add_outcome
from api.checkout_page.status.simulation import describe_actions
from api.checkout_page.status.tab import TabIcon, choose_icon, name_tab
from api.checkout_page.status.words import choose_leave, choose_reason, choose_summary, choose_texts
from api.domain.clock import format_time
from api.domain.orders import OrderStatus, StatusReason
from api.services.checkout.journey import Stage
from api.services.checkout.money_seen import MoneySeen
from api.services.orders.payability import NotPayable
from api.services.orders.views import PublicOrder

_S = OrderStatus
REDIRECT_AFTER_S: Mapping[OrderStatus, int] = MappingProxyType({_S.SUCCESS: 8})
"""Who did not succeed, or has something to ask for, decides for themselves: there is something to read."""
_OPEN = frozenset({_S.CREATED, _S.PROCESSING})
_FINE = frozenset({"", StatusReason.PAID_LATE})
"""Reasons with which a success leaves nothing to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageState:
    """What the page shows of an order at one moment.

    Parameters
    ----------
    panel : Panel
        The part that is visible.
    banner : mapping or None
        Title and text above the payment form, when something came or went wrong before.
    transactions : tuple of mapping
        See `list_transactions`.
    left_out_text : str
        How many more there are; empty if there are none.
    steps : tuple of mapping
        The stages of the payment that is awaited; see `describe_stages`.
    amounts : tuple of mapping
        What came for an open order and what is due; see `describe_amounts`.
    receipt : mapping or None
        Of a closed order; see `describe_receipt`.
    contact : Contact or None
        How the merchant is reached; see `find_contact`.
    is_wrong : bool
        Whether there is something to ask the merchant about.
    summary_text : str
        The word above the price.
    tab_title, tab_icon : str and TabIcon
        What the browser's tab says.
    on_its_way_text : str
        What a bridge has taken in and not delivered yet; empty if there is no such thing.
    return_url : str or None
        The merchant's callback URL with the outcome, once there is one.
    cancel_url : str or None
        The merchant's address for who does not want to pay, with the present status, while the order is open; going
        there closes nothing.
    leave : mapping or None
        ``title`` and ``text`` for who goes there after a part was paid; None where the page says it.
    until : mapping or None
        ``at`` and ``text`` of the moment that the texts name, for who tells it in another time zone.
    redirect_after_s : int or None
        After how long a customer who saw the outcome happen is taken there; None if they decide themselves.
    stranded : tuple of mapping
        Where money is that a bridge did not deliver; see `describe_stranded`.
    if_paid_text : str
        What to tell who says that they have paid, where no payment is seen yet; empty where nobody is asked.
    pay_anyway_text : str
        What to say before another payment, although one is on its way, which is late: anybody may have made that one.
        Or although one was undone, which the network may take in again. Empty where there is nothing to ask.
    is_paused : bool
        Whether the order can't be paid only until its chain is read again.
    test_actions : tuple of mapping
        ``action``, ``title`` and ``text`` of what can be simulated now.
    changes : int
        Grows with everything that happens to the order; tells news from what was known before.
    now, looked_at : str and str or None
        When this was said, and up to when every chain has been read.
    nothing_seen_until : str or None
        Up to when certainly nothing was seen for a closed order; None where something was, or that is not known.
    """

    payment_order_id: str
    payment_order_status: OrderStatus
    status_reason: StatusReason
    panel: Panel
    tone: Tone
    title: str
    text: str
    banner: Mapping[str, str] | None
    steps: tuple[Step, ...]
    amounts: tuple[Mapping[str, str], ...]
    receipt: Mapping[str, Any] | None
    contact: Contact | None
    is_wrong: bool
    summary_text: str
    tab_title: str
    tab_icon: TabIcon
    stranded: tuple[Mapping[str, str | bool], ...]
    transactions: tuple[Mapping[str, str | bool | None], ...]
    left_out_text: str
    on_its_way_text: str
    return_url: str | None
    cancel_url: str | None
    leave: Mapping[str, str] | None
    until: Mapping[str, str] | None
    redirect_after_s: int | None
    if_paid_text: str
    pay_anyway_text: str
    is_paused: bool
    test_actions: tuple[Mapping[str, str], ...]
    changes: int
    now: str
    looked_at: str | None
    nothing_seen_until: str | None

    def json(self) -> dict[str, Any]:
        """Return the answer of the status endpoint."""
        content = {each.name: getattr(self, each.name) for each in fields(self)}
        return content | {"contact": asdict(self.contact) if self.contact else None}


def build_state(
    order: PublicOrder, seen: MoneySeen, now: datetime, strings: Strings, stages: Sequence[Stage] = ()
) -> PageState:
    """Put an order's present state into words.

    Parameters
    ----------
    stages : sequence of Stage
        Those of the payment that is awaited.
    """
    merchant = isolate(order.vendor_name)
    status, reason = _find_effective_status(order, now)
    panel = choose_panel(order, status)
    shown = choose_reason(order, seen, status, reason)
    texts = choose_texts(order, seen, status, shown, strings)
    until = format_moment(order.pay_until, strings)
    banner = texts if panel is Panel.PAY and shown else None
    tone = choose_tone(order, status)
    undone = is_undone(order, status)
    is_fine = panel is not Panel.OUTCOME or (status == _S.SUCCESS and shown in _FINE)
    is_wrong = undone or banner is not None or not is_fine
    is_open = status in _OPEN
    goes_on = is_open and order.not_payable_reason != NotPayable.GOES_BACK
    steps = tuple(describe_stages(stages, order, now, strings, merchant)) if goes_on else ()
    is_doubtful = undone or _is_late(order, seen, steps)
    return PageState(
        payment_order_id=order.order_id,
        payment_order_status=status,
        status_reason=reason,
        panel=panel,
        tone=tone,
        title=texts["title"],
        text=texts["text"],
        banner=banner,
        steps=steps,
        amounts=tuple(describe_amounts(order, seen, status, strings, merchant)) if is_open and shown else (),
        receipt=describe_receipt(order, seen, status, strings, merchant),
        contact=find_contact(order, strings),
        is_wrong=is_wrong,
        summary_text=choose_summary(status, strings, merchant),
        tab_title=name_tab(None if panel is Panel.PAY and banner is None else texts["title"], strings, merchant),
        tab_icon=choose_icon(status, is_wrong=is_wrong and tone is not Tone.SUCCESS),
        stranded=tuple(describe_stranded(order, merchant, strings)),
        transactions=tuple(list_transactions(order, seen, merchant, strings)),
        left_out_text=describe_left_out(seen, strings),
        on_its_way_text=describe_on_its_way(order, seen, strings),
        return_url=add_outcome(choose_callback(order, status), order.order_id, status),
        cancel_url=add_outcome(order.cancel_callback_url, order.order_id, status) if is_open else None,
        leave=choose_leave(order, seen, shown, strings) if panel is Panel.PAY else None,
        until={"at": format_time(order.pay_until), "text": until} if until in texts["text"] else None,
        redirect_after_s=None if is_out(order) or is_wrong else REDIRECT_AFTER_S.get(status),
        if_paid_text=strings.page["i_paid_text"].format(merchant=merchant) if _asks(order, seen, status) else "",
        pay_anyway_text=strings.page["not_arrived_text"].format(merchant=merchant) if is_doubtful else "",
        is_paused=is_paused(order, status),
        test_actions=tuple(describe_actions(order, status, strings)),
        changes=len(order.timeline) + len(seen.transfers),
        now=format_time(now),
        looked_at=format_time(seen.looked_at) if seen.looked_at else None,
        nothing_seen_until=_find_nothing_seen_until(order, seen, status),
    )


def _find_effective_status(order: PublicOrder, now: datetime) -> tuple[OrderStatus, StatusReason]:
    """Say that the time is over as soon as it is; the worker writes it down a moment later."""
    if order.status == _S.CREATED and now >= order.expires_at:
        return _S.EXPIRED, StatusReason.EXPIRED
    return order.status, order.status_reason


def _asks(order: PublicOrder, seen: MoneySeen, status: OrderStatus) -> bool:
    """Whether a customer may say that they have paid: the time is over, and nothing has come that still could."""
    return status == _S.EXPIRED and (order.payable or order.is_paused) and not seen.transfers


def _is_late(order: PublicOrder, seen: MoneySeen, steps: Sequence[Step]) -> bool:
    """Whether a payment is on its way for longer than it should be, to an order that still takes another one."""
    return takes_more(order) and bool(seen.on_its_way) and any(step["is_late"] for step in steps)


def _find_nothing_seen_until(order: PublicOrder, seen: MoneySeen, status: OrderStatus) -> str | None:
    """Say up to when nothing came, if the chains were read since the order was closed; only then that is known."""
    if status in _OPEN or seen.transfers or order.amount_received or order.main_transactions or seen.looked_at is None:
        return None
    has_ended = order.status == status and order.timeline
    closed_at = datetime.fromisoformat(order.timeline[-1]["at"]) if has_ended else order.expires_at
    return format_time(seen.looked_at) if seen.looked_at >= closed_at else None


def choose_callback(order: PublicOrder, status: OrderStatus) -> str:
    """Choose the merchant's URL; a refund goes the way of a failure, so that nobody takes it for a payment."""
    match status:
        case _S.SUCCESS:
            return order.success_callback_url
        case _S.CANCELLED:
            return order.cancel_callback_url
        case _S.FAILED | _S.EXPIRED | _S.REFUNDED:
            return order.failure_callback_url
    return ""

"""Every status with every reason that it may have: what has happened, what is told, and what a shop does about it."""

from __future__ import annotations

from collections.abc import Mapping

from api.domain.events import choose_event
from api.domain.orders import OrderStatus, StatusReason
from tests.support.guide.regions import write_table

_S, _R = OrderStatus, StatusReason
NEVER = frozenset({_R.SLIPPAGE_EXCEEDED})
"""Words of the interface that no order has: what a route loses on its way is `underpaid`."""
STATES: Mapping[tuple[OrderStatus, StatusReason], tuple[str, str]] = {
    (_S.CREATED, _R.NONE): ("The link exists, nothing has been paid.", "Wait."),
    (_S.CREATED, _R.REORGED): ("The chain took the payment back before it counted.", "Wait: it can be paid again."),
    (_S.CREATED, _R.ROUTE_FAILED): ("The payer had the bridge deliver somewhere else.", "Wait: it can be paid again."),
    (_S.PROCESSING, _R.NONE): ("A payment was seen and is on its way.", "Say so to the customer; deliver nothing yet."),
    (_S.PROCESSING, _R.UNDERPAID): (
        "Less came than the price; `amount_due` is missing.",
        "The same page takes the rest until the order expires. [Sending back](refunds.md) all of it ends the order.",
    ),
    (_S.PROCESSING, _R.OVERPAID): (
        "More came than the price; it has too few confirmations yet.",
        "Wait for `success`.",
    ),
    (_S.PROCESSING, _R.PAID_LATE): ("It was paid within a day after it expired.", "Wait for `success`."),
    (_S.PROCESSING, _R.WRONG_TOKEN): (
        "Another listed token came, or the right one on another chain.",
        "The price can still be paid. [Sending back](refunds.md) all that came ends the order.",
    ),
    (_S.PROCESSING, _R.SCREENING_REJECTED): (
        "The operator's screening does not take this payer's money.",
        "Somebody else can still pay; what came can be sent back.",
    ),
    (_S.SUCCESS, _R.NONE): ("The price is there, with the confirmations that its value asks for.", "**Deliver.**"),
    (_S.SUCCESS, _R.OVERPAID): ("More than the price is there.", "**Deliver**, and send back what is too much."),
    (_S.SUCCESS, _R.PAID_LATE): ("It was paid within a day after it expired.", "**Deliver**, or send all of it back."),
    (_S.SUCCESS, _R.REORGED): (
        "The chain has lost the payment after all, which is rare.",
        "Stop the delivery if you can. A new payment makes it a `success` again.",
    ),
    (_S.SUCCESS, _R.PAID_AFTER_CLOSE): ("It is paid, and more came afterwards.", "It stays paid: send back the rest."),
    (_S.SUCCESS, _R.PARTIALLY_REFUNDED): ("Some of it went back.", "Nothing."),
    (_S.FAILED, _R.UNDERPAID): ("Time is over and something is missing.", "Send back what came."),
    (_S.FAILED, _R.WRONG_TOKEN): ("Time is over and only something else came.", "Send back what came."),
    (_S.FAILED, _R.ROUTE_FAILED): (
        "A bridge did not deliver, and gives the money back to its owner.",
        "`stranded` says where the money is. Make a new link.",
    ),
    (_S.FAILED, _R.SCREENING_REJECTED): ("Time is over and no accepted payer has paid.", "Send back what came."),
    (_S.FAILED, _R.PAID_AFTER_CLOSE): ("Money came after it had failed.", "Send it back."),
    (_S.FAILED, _R.PARTIALLY_REFUNDED): ("Some of what came went back.", "Send back the rest."),
    (_S.EXPIRED, _R.EXPIRED): ("Nobody paid in time; for one more day a payment counts.", "Keep the order a day."),
    (_S.EXPIRED, _R.PAID_AFTER_CLOSE): ("Money came more than a day too late.", "Send it back."),
    (_S.EXPIRED, _R.PARTIALLY_REFUNDED): ("Some of that went back.", "Send back the rest."),
    (_S.CANCELLED, _R.CANCELLED_BY_VENDOR): ("You have cancelled it.", "Send back what came before, if anything did."),
    (_S.CANCELLED, _R.PAID_AFTER_CLOSE): ("Money came after you had cancelled it.", "Send it back."),
    (_S.CANCELLED, _R.PARTIALLY_REFUNDED): ("Some of what came went back.", "Send back the rest."),
    (_S.REFUNDED, _R.NONE): ("All that came has gone back.", "Nothing."),
    (_S.REFUNDED, _R.PAID_AFTER_CLOSE): ("Money came after everything had gone back.", "Send it back."),
}


def write_states() -> str:
    """Return the table of all states."""
    rows = []
    for (status, reason), (happened, act) in STATES.items():
        shown = f"`{status}`" if reason == _R.NONE else f"`{status}` `{reason}`"
        rows.append((shown, happened, _name_event(status, reason), act))
    return write_table(("status and reason", "what has happened", "event", "what you do"), rows)


def _name_event(status: OrderStatus, reason: StatusReason) -> str:
    event = choose_event(status, reason)
    return "`payment_refunded`" if event is None else f"`{event}`"

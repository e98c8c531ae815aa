"""What is known of one payment: where its transfer stands on its chain, and why it counts for its order."""

from __future__ import annotations

from enum import StrEnum


class PaymentState(StrEnum):
    """Where a transfer stands on its chain.

    ``confirmed`` has the blocks that its value asks for, and counts; it is checked on until its chain can't lose it
    any more, and it is ``final``. One that endpoints contradict each other about is ``disputed``: it is shown nowhere
    and counts for nothing until they agree. One that its chain has taken back is ``reorged``, or ``lost`` if it had
    counted.
    """

    SEEN = "seen"
    DISPUTED = "disputed"
    CONFIRMED = "confirmed"
    FINAL = "final"
    REORGED = "reorged"
    LOST = "lost"


COUNTED = frozenset({PaymentState.CONFIRMED, PaymentState.FINAL})
"""What an order can succeed with."""
CHECKED = frozenset({PaymentState.SEEN, PaymentState.DISPUTED, PaymentState.CONFIRMED})
"""What a chain may still take back."""
GONE = frozenset({PaymentState.DISPUTED, PaymentState.REORGED, PaymentState.LOST})
"""What is in no canonical block, as far as is known."""


class Evidence(StrEnum):
    """Why a transfer counts for its order.

    ``reference``: the order's reference ends the calldata of the call that moved the money, and whose money it was
    made that call. ``signature``: the address whose money left signed for it. ``bridge``: a bridge answered a deposit
    that counts. ``assigned``: vendor or operator said so.
    """

    NONE = ""
    REFERENCE = "reference"
    SIGNATURE = "signature"
    BRIDGE = "bridge"
    ASSIGNED = "assigned"


class Unmatched(StrEnum):
    """Why a transfer belongs to no order."""

    NO_ORDER = "no_order"
    OTHER_PAYER = "other_payer"
    OTHER_RECIPIENT = "other_recipient"


REPLACED = "replaced"
"""Stands in the place of such a reason: it belongs to its order, and to what was there before it, which had counted."""

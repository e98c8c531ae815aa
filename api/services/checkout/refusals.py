"""Why an order can't be paid in some way."""

from __future__ import annotations

from enum import StrEnum

from api.domain.errors import Conflict, Problem


class OrderQuoteRefusal(StrEnum):
    """Why an order has no quote."""

    NOT_PAYABLE = "order_not_payable"
    NOT_WAITING = "order_not_waiting_for_payment"
    NO_ROUTE = "no_route"
    EXPIRED = "quote_expired"
    TOO_LITTLE = "balance_too_low"
    WOULD_FAIL = "payment_would_fail"
    REJECTED = "wallet_rejected"


class OrderQuoteRefused(Conflict):
    """An order can't be paid this way now; `reason` says why in a word, `message` in a sentence."""

    def __init__(self, reason: OrderQuoteRefusal, message: str, *problems: Problem) -> None:
        super().__init__(message, *problems)
        self.reason = reason

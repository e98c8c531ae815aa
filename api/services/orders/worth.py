"""What transfers are worth beside each other, as far as that can be told without a market."""

from __future__ import annotations

from api.domain.currencies import DOLLAR_TOKENS, PEGGED, find_kind
from api.domain.funds import NOTABLE_SHARE
from api.domain.money import round_up_to_whole
from api.storage.tables import Payment, PaymentOrder
from routing_engine.reference import token_registry

FINEST = 5
"""Of a token whose price is not known here, less than a hundred-thousandth is worth no word."""


def estimate_dollars(chain_id: int, token_address: str, amount: int) -> int | None:
    """Return what an amount is worth in whole dollars, rounded up; None where nobody here vouches for the price."""
    info = token_registry.info_of(chain_id, token_address)
    if info is None or info.symbol not in PEGGED:
        return None
    return round_up_to_whole(amount, info.on(chain_id).decimals)


def price_in_dollars(order: PaymentOrder) -> int | None:
    """Return what an order's price is worth in whole dollars, rounded up; None likewise."""
    if order.settlement_amount is None or order.settlement_token_symbol not in DOLLAR_TOKENS:
        return None
    return round_up_to_whole(order.settlement_amount, order.settlement_token_decimals or 0)


def is_notable(order: PaymentOrder, payment: Payment) -> bool:
    """Whether a payment is worth a hundredth of its order's price, at the least.

    Another token of the same kind is compared by its amount: dollars with dollars, a coin with its wrapped form.
    """
    if (payment.chain_id, payment.token_address) == (order.settlement_chain_id, order.settlement_token_address):
        return bool(payment.amount * NOTABLE_SHARE >= (order.settlement_amount or 0))
    info = token_registry.info_of(payment.chain_id, payment.token_address)
    if info is None:
        return False
    decimals = info.on(payment.chain_id).decimals
    if find_kind(info.symbol) != find_kind(order.settlement_token_symbol or ""):
        return bool(payment.amount * 10**FINEST >= 10**decimals)
    price, places = order.settlement_amount or 0, order.settlement_token_decimals or 0
    return bool(payment.amount * 10**places * NOTABLE_SHARE >= price * 10**decimals)

"""What transfers are worth beside each other, as far as that can be told without a market."""

from __future__ import annotations

from api.domain.currencies import DOLLAR_TOKENS
from api.domain.funds import NOTABLE_SHARE, WEIGHTY_SHARE
from api.domain.money import round_up_to_whole
from api.storage.tables import Payment, PaymentOrder
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

PEGGED = frozenset({*DOLLAR_TOKENS, "USDC.e"})
"""Tokens that are taken for a dollar each."""
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
    """Whether a payment is worth a hundredth of its order's price, at the least; more than dust, if that is unknown."""
    is_part = _is_part(order, payment, NOTABLE_SHARE)
    if is_part is not None:
        return is_part
    info = token_registry.info_of(payment.chain_id, payment.token_address)
    return info is not None and bool(payment.amount * 10**FINEST >= 10 ** info.on(payment.chain_id).decimals)


def is_weighty(order: PaymentOrder, payment: Payment) -> bool:
    """Whether a payment is known to be worth a tenth of its order's price, at the least."""
    return bool(_is_part(order, payment, WEIGHTY_SHARE))


def _is_part(order: PaymentOrder, payment: Payment, share: int) -> bool | None:
    """Whether a payment is worth at least such a part of its order's price; None where nobody here can tell.

    Another token of the same kind is compared by its amount: dollars with dollars, a coin with its wrapped form.
    """
    price, places = order.settlement_amount or 0, order.settlement_token_decimals or 0
    if (payment.chain_id, payment.token_address) == (order.settlement_chain_id, order.settlement_token_address):
        return bool(payment.amount * share >= price)
    info = token_registry.info_of(payment.chain_id, payment.token_address)
    if info is None or _find_kind(info.symbol) != _find_kind(order.settlement_token_symbol or ""):
        return None
    return bool(payment.amount * 10**places * share >= price * 10 ** info.on(payment.chain_id).decimals)


def _find_kind(symbol: str) -> str:
    if symbol in PEGGED:
        return "USD"
    wrapped = {chain.wrapped_native_token.symbol: chain.native_token.symbol for chain in CHAINS.values()}
    return wrapped.get(symbol, symbol)

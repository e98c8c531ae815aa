"""The ways to pay an order, in the customer's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.checkout_page.language.strings import Strings
from api.checkout_page.look.avatars import dress_chain
from api.checkout_page.money.amounts import format_duration, format_rounded, write_payment
from api.checkout_page.money.totals import write_total
from api.checkout_page.paying.quotes import describe_token
from api.services.checkout.options import PaymentOption, PaymentOptions, Standing
from api.services.orders.views import PublicOrder
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference.chains import CHAINS

PAYABLE = frozenset({Standing.ENOUGH, Standing.UNASKED, Standing.UNKNOWN})


def describe_options(found: PaymentOptions, unseen: Sequence[int], strings: Strings) -> dict[str, Any]:
    """Return the answer of the options endpoint: ways to pay, best first, and the chains that said nothing.

    Parameters
    ----------
    unseen : sequence of int
        Chains on which nothing is offered, since nobody reads them just now.
    """
    names = ", ".join(CHAINS[each].name for each in unseen)
    return {
        "note": strings.option["unseen"].format(chains=names) if names else "",
        "options": [_describe_option(option, found.order, strings) for option in found.options],
        "unread": [{"chain_id": each, "name": CHAINS[each].name, "coin": NATIVE_ADDRESS} for each in found.unread],
    }


def _describe_option(option: PaymentOption, order: PublicOrder, strings: Strings) -> dict[str, Any]:
    token, details = option.choice.token, option.details
    words = strings.option
    marks = [words[name] for name, has in (("cheapest", option.is_cheapest), ("fastest", option.is_fastest)) if has]
    return {
        **describe_token(option.choice, strings),
        "chain_id": token.chain_id,
        "chain": CHAINS[token.chain_id].name,
        "badge": dress_chain(token.chain_id, CHAINS[token.chain_id].name)["icon"],
        "is_coin": token.is_native,
        "standing": option.standing,
        "is_payable": option.standing in PAYABLE,
        "pay_text": write_payment(
            details["amount_in"], token.decimals, token.symbol, strings, is_fixed=option.choice.is_settlement
        ),
        "price_text": _describe_price(details, order, strings),
        "held_text": _describe_held(option, strings),
        "explanation": _explain(option, strings),
        "marks": marks,
    }


def _describe_price(details: Mapping[str, Any], order: PublicOrder, strings: Strings) -> str:
    """Say what it costs in all and how long it takes; only how long, where that can't be valued."""
    total, time = details["total"], format_duration(details["fill_time_s"], strings)
    if total is None:
        return time
    value = write_total(total, order.amount_due or 0, order, strings)
    return strings.option["price"].format(total=value, time=time)


def _describe_held(option: PaymentOption, strings: Strings) -> str:
    token = option.choice.token
    if option.held is not None:
        held = format_rounded(option.held, token.decimals, token.symbol, strings, up=False)
        return strings.option["held"].format(amount=held)
    return strings.option["held_unknown"] if option.standing == Standing.UNKNOWN else ""


def _explain(option: PaymentOption, strings: Strings) -> str:
    """Say what is missing, where something is."""
    missing = option.missing_token
    if missing is None:
        return ""
    if option.standing == Standing.NO_GAS:
        text = format_rounded(option.missing, missing.decimals, missing.symbol, strings)
        return strings.option["no_gas"].format(missing=text)
    held = format_rounded(option.held or 0, missing.decimals, missing.symbol, strings, up=False)
    needed = format_rounded(option.details["amount_in_max"], missing.decimals, missing.symbol, strings)
    return strings.option["short"].format(held=held, needed=needed)

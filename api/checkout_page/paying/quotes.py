"""Tokens to choose from and quotes, in the customer's words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from api.checkout_page.language.strings import Strings, isolate
from api.checkout_page.look.avatars import dress_chain, dress_token
from api.checkout_page.money.amounts import (
    format_duration,
    format_money,
    format_plain,
    format_rounded,
    round_payment,
    write_payment,
)
from api.checkout_page.money.totals import choose_unit, is_tiny, share_units, write_fees, write_total, write_units
from api.checkout_page.paying.networks import describe_network
from api.services.checkout.patience import is_slow
from api.services.checkout.payable_tokens import PayableChain, PayableToken
from api.services.checkout.quote import OrderQuote
from api.services.orders.views import PublicOrder
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference.chains import CHAINS

_KINDS = (
    ("USD|^(?:DAI|FRAX|GHO)$", "dollar"),
    ("EUR", "euro"),
    ("BTC$", "bitcoin"),
    ("ETH$", "ether"),
    ("POL$", "polygon"),
)
"""What symbols look like, and what kind of token has such a one: people search it by other words than its name."""

_LAST_S = 11 * 60
"""How much is left when a price comes that says when the order ends: one is held for a minute, and ten are counted."""


def describe_choices(chains: Sequence[PayableChain], strings: Strings) -> dict[str, Any]:
    """Return the answer of the tokens endpoint: chains, best first, each with its tokens, best first."""
    return {"chains": [_describe_chain(group, strings) for group in chains]}


def quote_json(
    quote: OrderQuote, order: PublicOrder, now: datetime, strings: Strings, untraced: Collection[int] = ()
) -> dict[str, Any]:
    """Return the answer of the quote endpoint; amounts are digit strings, and texts ready to show, or empty.

    What is shown of an amount is rounded up; ``shown_amount`` is that, for who asks whether a new price is higher.

    Parameters
    ----------
    untraced : collection of int
        Chains on which payments by smart accounts can't be recognised just now.
    """
    decimals, symbol = quote.token_decimals, quote.token_symbol
    shown = round_payment(quote.amount_in, decimals, symbol, is_fixed=quote.is_direct)
    most_text = format_rounded(quote.amount_in_max, decimals, symbol, strings)
    left_s = max(0, int((order.pay_until - now).total_seconds()))
    time_text = format_duration(quote.fill_time_s, strings)
    return {
        "quote_id": quote.quote_id,
        "valid_for_s": max(0, min(left_s, int((quote.expires_at - now).total_seconds()))),
        "ends_in_s": left_s,
        "ends_text": strings.page["order_ends"] if left_s <= _LAST_S else "",
        "pay_amount": str(quote.amount_in),
        "shown_amount": str(shown),
        "pay_text": write_payment(quote.amount_in, decimals, symbol, strings, is_fixed=quote.is_direct),
        "exact_text": format_money(quote.amount_in, decimals, symbol, strings),
        "exact_note": strings.page["rounded"] if shown > quote.amount_in else "",
        "exact_amount": format_plain(quote.amount_in, decimals),
        "most_text": most_text if quote.amount_in_max > quote.amount_in else "",
        "total_text": describe_total(quote.total, quote.amount_out, order, strings),
        "symbol": symbol,
        **dress_token(quote.chain_id, quote.token_address, symbol),
        "chain_id": quote.chain_id,
        "chain": _name_chain(quote.chain_id),
        "coin": CHAINS[quote.chain_id].native_currency.symbol,
        "receive_text": _format_received(quote, order, strings),
        "route_text": _describe_way(quote, order, strings),
        "fees": list(_describe_fees(quote, order, strings)),
        "time_text": time_text,
        "slow_text": strings.page["slow_ok"].format(time=time_text) if is_slow(quote.fill_time_s) else "",
        "prompts_text": _describe_prompts(quote, order, strings),
        "add_chain": describe_network(quote.chain_id, order),
        "wallet_note": _write_wallet_note(quote, strings) if quote.chain_id in untraced else "",
    }


def describe_total(total: int | None, due: int, order: PublicOrder, strings: Strings) -> str:
    """Say what a payment costs in all and how much of that are fees, in the price's currency."""
    if total is None:
        return strings.page["total_unknown"]
    fees = write_fees(total, due, order, strings, is_named=False)
    return strings.page["total_in_all"].format(total=write_total(total, due, order, strings), fees=fees)


def _describe_prompts(quote: OrderQuote, order: PublicOrder, strings: Strings) -> str:
    """Say what the wallet is going to ask, before it does."""
    if order.is_simulated:
        return ""
    most = format_rounded(quote.amount_in_max, quote.token_decimals, quote.token_symbol, strings)
    if not quote.is_direct and quote.token_address != NATIVE_ADDRESS:
        return strings.page["prompts_two"].format(amount=most)
    return strings.page["prompts_coin" if quote.amount_in_max > quote.amount_in else "prompts_one"].format(amount=most)


def _write_wallet_note(quote: OrderQuote, strings: Strings) -> str:
    return strings.page["no_traces"].format(chain=_name_chain(quote.chain_id))


def _describe_chain(group: PayableChain, strings: Strings) -> dict[str, Any]:
    name = group.chain["name"]
    return {
        "chain_id": group.chain["chainId"],
        "name": name,
        **dress_chain(group.chain["chainId"], name),
        "tokens": [describe_token(choice, strings) for choice in group.tokens],
    }


def describe_token(choice: PayableToken, strings: Strings) -> dict[str, Any]:
    """Return what a row of the list says of a token."""
    return {
        "address": choice.token.address,
        "symbol": choice.token.symbol,
        "name": choice.name,
        "called": _list_words(choice.token.symbol, strings),
        **dress_token(choice.token.chain_id, choice.token.address, choice.token.symbol),
        "hint": strings.page["token_hint"] if choice.is_settlement else "",
    }


def _list_words(symbol: str, strings: Strings) -> str:
    return next((strings.called[kind] for pattern, kind in _KINDS if re.search(pattern, symbol)), "")


def _format_received(quote: OrderQuote, order: PublicOrder, strings: Strings) -> str:
    decimals, symbol = order.settlement_token_decimals or 0, order.settlement_token_symbol or ""
    amount = format_money(quote.amount_out, decimals, symbol, strings)
    return f"{amount} · {_name_chain(quote.settlement_chain_id)}"


def _describe_way(quote: OrderQuote, order: PublicOrder, strings: Strings) -> str:
    """Say in one sentence what happens to the money, however many steps that takes."""
    if quote.is_direct:
        return strings.route["direct"].format(merchant=isolate(order.vendor_name))
    bridge = next((step for step in quote.steps if step["fromChainId"] != step["toChainId"]), None)
    sold, bought = quote.token_symbol, order.settlement_token_symbol or ""
    words = {"bought": bought, "to_chain": _name_chain(quote.settlement_chain_id)}
    if bridge is None:
        return strings.route["swap"].format(**words)
    kind = "bridge" if sold == bought else "bridge_swap"
    return strings.route[kind].format(**words, protocol=_name_protocol(bridge["protocol"], strings))


def _name_protocol(protocol: str, strings: Strings) -> str:
    return strings.protocols.get(protocol) or protocol.replace("_", " ").capitalize()


def _describe_fees(quote: OrderQuote, order: PublicOrder, strings: Strings) -> Iterator[dict[str, str]]:
    """Say each kind of fee once: in the price's currency, or where it can't be valued in its own."""
    sums: dict[tuple[str, bool], int] = {}
    others: list[tuple[str, bool, str]] = []
    words = strings.fees
    for cost in quote.costs:
        key = words.get(cost["name"], words["other"]), cost["included"]
        if cost["value"] is None:
            others.append((*key, format_rounded(int(cost["amount"]), cost["decimals"], cost["symbol"], strings)))
        else:
            sums[key] = sums.get(key, 0) + int(cost["value"])
    if quote.total is not None:
        sums = _add_rest(sums, quote.total - quote.amount_out, words["rate"])
    unit = choose_unit(sum(sums.values()), order.settlement_token_decimals or 0, order.price_currency)
    is_less = is_tiny(sum(sums.values()), unit)
    shares = share_units([*sums.values()], unit)
    valued = [(*key, _write_fee(share, unit, order, strings, is_less)) for key, share in zip(sums, shares, strict=True)]
    for name, is_included, text in (*valued, *others):
        yield {"name": name, "note": words["included" if is_included else "extra"], "text": text}


def _write_fee(share: int, unit: int, order: PublicOrder, strings: Strings, is_less: bool) -> str:
    """Say what a fee is valued at; of less than a unit only that."""
    if is_less or share == 0:
        return write_units(1, unit, order, strings, is_less=True)
    return strings.fees["about"].format(amount=write_units(share, unit, order, strings, is_less=False))


def _add_rest(sums: dict[tuple[str, bool], int], fees: int, name: str) -> dict[tuple[str, bool], int]:
    """Add what no fee explains, so that the rows make the sum: an exchange's rate is not the market's."""
    rest = fees - sum(sums.values())
    on_top = {key: amount for key, amount in sums.items() if not key[1]}
    return {**sums, (name, True): rest, **on_top} if rest > 0 else sums


def _name_chain(chain_id: int) -> str:
    chain = CHAINS.get(chain_id)
    return chain.name if chain else str(chain_id)

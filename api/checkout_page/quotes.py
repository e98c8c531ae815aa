"""Tokens to choose from and quotes, in the customer's words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from api.checkout_page.amounts import format_duration, format_money, round_up_amount
from api.checkout_page.avatars import pick_hue, pick_letter
from api.checkout_page.strings import Strings, isolate
from api.services.checkout.payable_tokens import PayableChain, PayableToken
from api.services.checkout.quote import OrderQuote
from api.services.orders.views import PublicOrder
from routing_engine.reference.chains import CHAINS

WRAP = "wrap"


def describe_choices(chains: Sequence[PayableChain], strings: Strings) -> dict[str, Any]:
    """Return the answer of the tokens endpoint: chains, best first, each with its tokens, best first."""
    return {"chains": [_describe_chain(group, strings) for group in chains]}


def quote_json(
    quote: OrderQuote, order: PublicOrder, now: datetime, strings: Strings, untraced: Collection[int] = ()
) -> dict[str, Any]:
    """Return the answer of the quote endpoint; amounts are digit strings, and texts ready to show.

    Parameters
    ----------
    untraced : collection of int
        Chains on which payments by smart accounts can't be recognised just now.
    """
    pay_text = format_money(quote.amount_in, quote.token_decimals, quote.token_symbol)
    most_text = format_money(quote.amount_in_max, quote.token_decimals, quote.token_symbol)
    return {
        "quote_id": quote.quote_id,
        "valid_for_s": max(0, int((quote.expires_at - now).total_seconds())),
        "pay_amount": str(quote.amount_in),
        "pay_text": pay_text,
        "most_text": most_text if quote.amount_in_max > quote.amount_in else None,
        "symbol": quote.token_symbol,
        "letter": pick_letter(quote.token_symbol),
        "hue": pick_hue(quote.token_symbol),
        "chain_id": quote.chain_id,
        "chain": _name_chain(quote.chain_id),
        "coin": CHAINS[quote.chain_id].native_currency.symbol,
        "receive_text": _format_received(quote, order),
        "steps": _describe_steps(quote, order, strings),
        "fees": list(_describe_fees(quote, strings)),
        "time_text": format_duration(quote.fill_time_s, strings.duration),
        "wallet_note": _write_wallet_note(quote, strings) if quote.chain_id in untraced else None,
    }


def _write_wallet_note(quote: OrderQuote, strings: Strings) -> str:
    return strings.page["no_traces"].format(chain=_name_chain(quote.chain_id))


def _describe_chain(group: PayableChain, strings: Strings) -> dict[str, Any]:
    name = group.chain["name"]
    return {
        "chain_id": group.chain["chainId"],
        "name": name,
        "letter": pick_letter(name),
        "hue": pick_hue(name),
        "tokens": [_describe_token(choice, strings) for choice in group.tokens],
    }


def _describe_token(choice: PayableToken, strings: Strings) -> dict[str, Any]:
    return {
        "address": choice.token.address,
        "symbol": choice.token.symbol,
        "name": choice.name,
        "letter": pick_letter(choice.token.symbol),
        "hue": pick_hue(choice.token.symbol),
        "hint": strings.page["token_hint"] if choice.is_settlement else "",
    }


def _format_received(quote: OrderQuote, order: PublicOrder) -> str:
    amount = format_money(quote.amount_out, order.settlement_token_decimals or 0, order.settlement_token_symbol or "")
    return f"{amount} · {_name_chain(quote.settlement_chain_id)}"


def _describe_steps(quote: OrderQuote, order: PublicOrder, strings: Strings) -> list[str]:
    """Say each step once, also where a split takes several of a kind."""
    if quote.is_direct:
        return [strings.route["direct"].format(merchant=isolate(order.vendor_name))]
    return list(dict.fromkeys(_describe_step(step, strings) for step in quote.steps))


def _describe_step(step: Mapping[str, Any], strings: Strings) -> str:
    sold, bought = step["fromToken"]["symbol"], step["toToken"]["symbol"]
    protocol = step["protocol"]
    if step["fromChainId"] != step["toChainId"]:
        kind = "bridge" if sold == bought else "bridge_swap"
    else:
        kind = "wrap" if protocol == WRAP else "swap"
    return strings.route[kind].format(
        sold=sold,
        bought=bought,
        protocol=strings.protocols.get(protocol) or protocol.replace("_", " ").capitalize(),
        from_chain=_name_chain(step["fromChainId"]),
        to_chain=_name_chain(step["toChainId"]),
    )


def _describe_fees(quote: OrderQuote, strings: Strings) -> Iterator[dict[str, str]]:
    """Add up the fees of all steps by name and currency, those on top of the amount last."""
    sums: dict[tuple[str, str, int, bool], int] = {}
    for fee in _describe_step_fees(quote):
        key = (fee["name"], fee["currency"]["symbol"], fee["currency"]["decimals"], fee["included"])
        sums[key] = sums.get(key, 0) + int(fee["amount"])
    for (name, symbol, decimals, is_included), amount in sorted(sums.items(), key=lambda row: not row[0][3]):
        if amount:
            yield {
                "name": strings.fees.get(name, strings.fees["other"]),
                "note": strings.fees["included" if is_included else "extra"],
                "text": f"{round_up_amount(amount, decimals)} {symbol}",
            }


def _describe_step_fees(quote: OrderQuote) -> Iterator[Mapping[str, Any]]:
    for step in quote.steps:
        yield from step["fees"]


def _name_chain(chain_id: int) -> str:
    chain = CHAINS.get(chain_id)
    return chain.name if chain else str(chain_id)

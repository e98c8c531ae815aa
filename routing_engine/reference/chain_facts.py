"""The parts of a chain's description that are there for others: bridges, contracts of protocols, the sandbox.

Each field that somebody reads is checked here, so that a wrong one stops the start and not the first payment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, TypeAlias

from routing_engine.reference.record import Record

Read: TypeAlias = Callable[[Record, str], object]

MAX_DAYS_S = 400 * 86_400
SOURCE = "source"
PRICED_COINS = frozenset(("ETH", "WETH", "POL", "WPOL"))
"""Coins whose price the sandbox knows by itself."""
VENUES = ("v2", "v2b", "v3", "v3b", "v4")
TIERS = ("lowest", "low", "mid", "high")
"""Of venues with concentrated liquidity."""

_text: Read = Record.read_text
_address: Read = Record.read_contract
_symbol: Read = Record.read_symbol
_seconds: Read = partial(Record.read_integer, least=0, most=MAX_DAYS_S)
_pips: Read = partial(Record.read_integer, least=0, most=999_999)
_id: Read = partial(Record.read_integer, least=0, most=2**63)


def _read_fill_times(record: Record, name: str) -> None:
    by_token = record.read_object(name)
    for symbol in by_token.row:
        by_chain = by_token.read_object(symbol)
        for chain_id in by_chain.row:
            _seconds(by_chain, chain_id)


def _read_symbol_list(record: Record, name: str) -> None:
    if not record.read_items(name) or not all(isinstance(each, str) for each in record.read_items(name)):
        raise record.wrong(name, "must be a list of symbols")


BRIDGES: Mapping[str, tuple[Mapping[str, Read], Mapping[str, Read]]] = {
    "across": ({}, {"fill_times_s": _read_fill_times, "usual_fill_time_s": _seconds}),
    "canonical": (
        {"parent": _id, "deposit_s": _seconds, "withdrawal_s": _seconds, "tokens": Record.read_symbols},
        {},
    ),
    "cctp": ({"domain": _id, "standard_s": _seconds}, {"fast_s": _seconds}),
    "debridge": ({}, {}),
    "hop": ({"slug": _text, "fill_time_s": _seconds, "tokens": Record.read_symbols}, {}),
    "layerzero": ({"eid": _id, "message_s": _seconds}, {}),
}
"""What each needs to know, and what it may be told."""

DEPLOYMENTS: Mapping[str, tuple[Mapping[str, Read], Mapping[str, Read]]] = {
    "across": ({"name": _text, "spoke_pool": _address, "periphery": _address}, {}),
    "aerodrome": ({"name": _text, "factory": _address}, {}),
    "balancer_v2": ({"vault": _address, "factory": _address, "kind": _text}, {}),
    "camelot": ({"name": _text, "factory": _address}, {}),
    "cctp": ({"name": _text, "token_messenger": _address, "message_transmitter": _address}, {}),
    "curve": ({"registry": _address, "kind": _text}, {}),
    "price_feeds": ({"name": _text, "feed": _address, "symbols": _read_symbol_list}, {}),
    "slipstream": ({"name": _text, "factory": _address}, {}),
    "stargate": ({"name": _text, "symbol": _symbol, "pool": _address}, {}),
    "uniswap_v2": ({"name": _text, "factory": _address, "fee_pips": _pips}, {"router": _address}),
    "uniswap_v3": ({"name": _text, "factory": _address}, {"router": _address}),
    "uniswap_v4": (
        {"name": _text, "manager": _address, "state_view": _address, "router": _address, "permit2": _address},
        {},
    ),
}
"""The fields that each protocol's contracts have, and those that they may have."""

_SANDBOX = ("venues", "depth_percent", "gas_price_wei", "usd", "pairs", "home_of")
_SANDBOX_OF_LANES = ("canonical_tokens", "layerzero_tokens", "without")


def read_bridges(chain: Record) -> dict[str, dict[str, Any]]:
    """Return what bridges need to know of a chain."""
    if "bridges" not in chain.row:
        return {}
    bridges = chain.read_object("bridges")
    bridges.allow(BRIDGES, "bridge whose facts are read")
    return {name: _read_fields(bridges.read_object(name), f"{name} has", *BRIDGES[name]) for name in bridges.row}


def read_deployments(chain: Record) -> dict[str, list[dict[str, Any]]]:
    """Return the contracts of protocols on a chain, each with the chain's id."""
    if "deployments" not in chain.row:
        return {}
    found = chain.read_object("deployments")
    found.allow(DEPLOYMENTS, "protocol whose contracts are read")
    return {
        name: [
            {**_read_fields(each, f"{name} has", *DEPLOYMENTS[name]), "chain_id": chain.row["chain_id"]}
            for each in found.read_list(name)
        ]
        for name in found.row
    }


def read_sandbox(chain: Record) -> dict[str, Any] | None:
    """Return what the sandbox invents on a chain; None where it invents nothing."""
    if "sandbox" not in chain.row:
        return None
    sandbox = chain.read_object("sandbox")
    sandbox.allow((*_SANDBOX, *_SANDBOX_OF_LANES), "field of a sandbox")
    venues = sandbox.read_object("venues")
    venues.allow(VENUES, "venue")
    for name in venues.row:
        venues.read_text(name, "a protocol's name")
    sandbox.read_integer("depth_percent", 1, 1_000)
    sandbox.read_integer("gas_price_wei", 0, 10**15)
    _read_prices(chain, sandbox)
    for number, line in enumerate(sandbox.read_items("pairs")):
        wrong = _find_wrong_pair(line, frozenset(venues.row))
        if wrong:
            raise sandbox.wrong(f"pairs[{number}]", wrong)
    for name in ("home_of", "layerzero_tokens"):
        if name in sandbox.row:
            _read_symbol_list(sandbox, name)
    if "canonical_tokens" in sandbox.row:
        sandbox.read_symbols("canonical_tokens")
    if "without" in sandbox.row:
        without = sandbox.read_object("without")
        for bridge in without.row:
            _read_symbol_list(without, bridge)
    return sandbox.row


def _read_fields(
    record: Record, whose: str, required: Mapping[str, Read], others: Mapping[str, Read]
) -> dict[str, Any]:
    known = {**required, **others}
    record.allow((*known, SOURCE), f"field that {whose}")
    for name, read in known.items():
        if name in required or name in record.row:
            read(record, name)
    return record.row


def _read_prices(chain: Record, sandbox: Record) -> None:
    prices = sandbox.read_object("usd") if "usd" in sandbox.row else Record("", "", {})
    for symbol in prices.row:
        prices.read_text(symbol, 'dollars as a text, such as "0.45"', _is_price)
    coins = {chain.read_object("native_currency").read_symbol("symbol"), chain.read_symbol("wrapped_native_symbol")}
    for symbol in sorted(coins - PRICED_COINS - prices.row.keys()):
        raise sandbox.wrong("usd", f"must have the price of {symbol}, with which gas is paid")


def _is_price(text: str) -> bool:
    try:
        price = Decimal(text)
    except InvalidOperation:
        return False
    return price.is_finite() and Decimal("1e-9") <= price <= 10**12


def _find_wrong_pair(line: object, venues: frozenset[str]) -> str:
    """Return what is wrong with a pair's line, or nothing."""
    words = line.split() if isinstance(line, str) else []
    told = f"must be two symbols, and places as v3.low:40000, not {str(line)[:60]!r}"
    if len(words) < 3:
        return told
    for word in words[2:]:
        place, colon, share = word.partition(":")
        venue, _, tier = place.partition(".")
        if not colon or not (share.isascii() and share.isdecimal()) or (tier in TIERS) != (venue[:2] in ("v3", "v4")):
            return f"{told}: {word!r}"
        if venue not in venues:
            return f"must name a venue of `venues`: {word!r}"
    return ""

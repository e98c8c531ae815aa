"""The ways to pay an order that suit one wallet: over all chains, priced, and held beside what the wallet has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from api.domain.currencies import PEGGED
from api.services.chains.balances import PATIENCE_S
from api.services.chains.waiting_room import BALANCES, NoPlace
from api.services.checkout.cheapest import find_cheapest, round_fees
from api.services.checkout.costs import Values
from api.services.checkout.expected_times import expect_payment_s
from api.services.checkout.patience import is_slow, price_waiting, weigh_hour
from api.services.checkout.payable_tokens import PayableToken, list_payable_tokens
from api.services.checkout.prices import find_price
from api.services.checkout.quotes import require_due
from api.services.checkout.refusals import OrderQuoteRefused
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from routing_engine import Token
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from api.services.chains.chain_access import ChainAccess

MOST_PRICED = 16
"""Tokens whose price is found for one answer."""
USEFUL_PER_CHAIN = 3
"""The tokens of a chain that are priced although nobody is known to hold them."""

CENTS = 2
"""Decimal places of dollars: less than the least that is shown nobody saves."""

Balances = Mapping[int, Mapping[Token, int]]


class Standing(StrEnum):
    """How what a wallet holds compares with what an option takes."""

    ENOUGH = "enough"
    UNKNOWN = "unknown"
    UNASKED = "unasked"
    NO_GAS = "no_gas"
    SHORT = "short"


_ORDER = tuple(Standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentOption:
    """One way to pay.

    Parameters
    ----------
    choice : PayableToken
        What to pay with.
    details : mapping
        What its quote would say; see `find_price`.
    standing : Standing
        Whether the wallet can.
    held : int or None
        What it has of the token; None where that is not known.
    missing, missing_token : int and Token, or None
        What it lacks.
    is_cheapest, is_fastest : bool
        Of those that can be paid.
    """

    choice: PayableToken
    details: Mapping[str, Any]
    standing: Standing
    held: int | None = None
    missing: int = 0
    missing_token: Token | None = None
    is_cheapest: bool = False
    is_fastest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentOptions:
    """The ways to pay, best first.

    Parameters
    ----------
    options : tuple of PaymentOption
        Those that the wallet can pay come first.
    unread : tuple of int
        Chains that have not said what the wallet holds.
    """

    order: PublicOrder
    options: tuple[PaymentOption, ...] = ()
    unread: tuple[int, ...] = ()


def list_options(
    resources: Resources, order_id: str, account: str | None = None, told: Mapping[tuple[int, str], int] | None = None
) -> PaymentOptions:
    """Return the ways to pay an order, best first; none where it takes no payment now.

    Parameters
    ----------
    account : str, optional
        Address of the customer's wallet in lower case; without one nothing is known of balances.
    told : mapping of (int, str) to int, optional
        Balances by chain and token that the wallet itself has read, counted only where the chain is unread.

    Raises
    ------
    NotFound
        If there is no such order.
    """
    order = load_public_order(resources, order_id)
    try:
        settled, due = require_due(resources, order)
    except OrderQuoteRefused:
        return PaymentOptions(order=order)
    hour_bps = weigh_hour(resources.market.router, settled, due, resources.config.value_of_time)
    access = resources.chain_access.get(order.env_mode)
    choices = {
        group.chain["chainId"]: group.tokens for group in list_payable_tokens(resources, order_id) if group.tokens
    }
    if access is None or account is None:
        standing = Standing.ENOUGH if access is None else Standing.UNASKED
        priced = _price(resources, access, _pick_useful(choices), settled, order)
        found = [PaymentOption(choice=choice, details=details, standing=standing) for choice, details in priced]
        return PaymentOptions(order=order, options=_arrange(found, settled, due, hour_bps))
    held = _read_balances(resources, access, choices, account)
    unread = tuple(chain_id for chain_id in choices if chain_id not in held)
    held = _add_told(held, choices, unread, told or {})
    picked = _pick_held(Values(resources.market.router, settled), choices, held, settled)
    priced = _price(resources, access, picked, settled, order)
    options = [_compare(choice, details, held) for choice, details in priced]
    return PaymentOptions(order=order, options=_arrange(options, settled, due, hour_bps), unread=unread)


def _read_balances(
    resources: Resources, access: ChainAccess, choices: Mapping[int, Sequence[PayableToken]], account: str
) -> Balances:
    """Return what is known of balances within a moment; where too many wait already, what is known at once."""
    wanted = {
        chain_id: tuple(dict.fromkeys((CHAINS[chain_id].native_token, *(each.token for each in tokens))))
        for chain_id, tokens in choices.items()
    }
    try:
        with resources.waiting_room.enter(BALANCES):
            return access.balances.read(wanted, account, PATIENCE_S)
    except NoPlace:
        return access.balances.read(wanted, account, 0)


def _add_told(
    held: Balances,
    choices: Mapping[int, Sequence[PayableToken]],
    unread: Sequence[int],
    told: Mapping[tuple[int, str], int],
) -> Balances:
    """Take the wallet's word for the chains that nobody else has read: it changes what its user is shown, no more."""
    found = dict(held)
    for chain_id in unread:
        tokens = (CHAINS[chain_id].native_token, *(each.token for each in choices[chain_id]))
        known = {token: told[chain_id, token.address] for token in tokens if (chain_id, token.address) in told}
        if known:
            found[chain_id] = known
    return found


def _pick_useful(choices: Mapping[int, Sequence[PayableToken]]) -> list[PayableToken]:
    return [choice for tokens in choices.values() for choice in tokens[:USEFUL_PER_CHAIN]][:MOST_PRICED]


def _pick_held(
    values: Values, choices: Mapping[int, Sequence[PayableToken]], held: Balances, settled: Token
) -> list[PayableToken]:
    """Return what is worth pricing: what is held, the most valuable first, and what may be held on unread chains."""
    known = [
        (choice, held[chain_id][choice.token])
        for chain_id, tokens in choices.items()
        for choice in tokens
        if held.get(chain_id, {}).get(choice.token)
    ]
    known.sort(key=lambda row: -(values.value(row[0].token, row[1]) or 0))
    silent = {chain_id: tokens for chain_id, tokens in choices.items() if chain_id not in held}
    maybe = _pick_useful(silent)
    owned = [choice for choice, _ in known][: MOST_PRICED - min(len(maybe), USEFUL_PER_CHAIN)]
    usual = [choice for choice in _pick_useful(choices) if not owned or choice.token == settled]
    return list({choice.token: choice for choice in (*owned, *maybe, *usual)}.values())[:MOST_PRICED]


def _price(
    resources: Resources,
    access: ChainAccess | None,
    choices: Sequence[PayableToken],
    settled: Token,
    order: PublicOrder,
) -> Iterator[tuple[PayableToken, Mapping[str, Any]]]:
    for choice in choices:
        try:
            details = find_price(resources, access, choice.token, settled, order.amount_due or 0)
        except OrderQuoteRefused:  # no route takes it now
            continue
        time = expect_payment_s(resources, order, choice.token.chain_id, details.get("steps", ()))
        yield choice, {**details, "fill_time_s": time}


def _compare(choice: PayableToken, details: Mapping[str, Any], held: Balances) -> PaymentOption:
    """Hold what an option takes beside what the wallet has."""
    token, coin = choice.token, CHAINS[choice.token.chain_id].native_token
    here = held.get(token.chain_id, {})
    has, has_coin = here.get(token), here.get(coin)
    option = PaymentOption(choice=choice, details=details, standing=Standing.ENOUGH, held=has)
    most, gas = details["amount_in_max"], details["coin_needed"]
    if has is not None and has < most:
        return replace(option, standing=Standing.SHORT, missing=most - has, missing_token=token)
    coin_wanted = gas + (most if token.is_native else 0)
    if has_coin is not None and has_coin < coin_wanted:
        return replace(option, standing=Standing.NO_GAS, missing=coin_wanted - has_coin, missing_token=coin)
    return replace(option, standing=Standing.UNKNOWN) if has is None or has_coin is None else option


def _arrange(options: Sequence[PaymentOption], settled: Token, due: int, hour_bps: float) -> tuple[PaymentOption, ...]:
    """Put first what costs least, the time it takes counted, and mark the cheapest and the fastest of what is able."""
    cent = 10 ** max(0, settled.decimals - CENTS) if settled.symbol in PEGGED else 1
    arranged = sorted(options, key=lambda option: _rank(option, due, cent, hour_bps))
    able = [option for option in arranged if option.standing in {Standing.ENOUGH, Standing.UNASKED}]
    if len(able) < 2:
        return tuple(arranged)
    first = find_cheapest([_tell_cost(option, due, cent) for option in able])
    cheapest = None if first is None else able[first]
    fastest = min(able, key=lambda option: option.details["fill_time_s"])
    return tuple(replace(option, is_cheapest=option is cheapest, is_fastest=option is fastest) for option in arranged)


def _tell_cost(option: PaymentOption, due: int, cent: int) -> tuple[int, int] | None:
    total = option.details["total"]
    return None if total is None else (round_fees(total, due, cent), option.details["fill_time_s"])


def _rank(option: PaymentOption, due: int, cent: int, hour_bps: float) -> tuple[int, bool, bool, int, bool, int]:
    """Rank by what is lacking, what is slow last, then by fees as shown and the wait; of equals first without swap."""
    total, seconds = option.details["total"], option.details["fill_time_s"]
    fees = 0 if total is None else round_fees(total, due, cent)
    weighed = 0 if total is None else fees + price_waiting(due, hour_bps, seconds)
    first = _ORDER.index(option.standing), is_slow(seconds)
    return *first, total is None, weighed, not option.choice.is_settlement, seconds

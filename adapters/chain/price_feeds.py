"""Dollar prices from Chainlink's feeds, and which pools are too far from them to be believed.

What a pool quotes is exact, but its reserves come from an endpoint, and endpoints may lie. A pool of two tokens whose
dollar prices are known must not be far off their ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, isfinite, log, sqrt

from adapters.chain.deployments import read_deployments
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import CallFailed, Function
from adapters.rpc.reading import Reading, ask_each
from routing_engine.market import Market
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

LATEST_ROUND = Function("latestRoundData()", "uint80", "int256", "uint256", "uint256", "uint80")
DECIMALS = Function("decimals()", "uint8")

MAX_AGE_S = 26 * 3600
"""Feeds of quiet prices speak once a day."""
MAX_AHEAD_S = 60
MOST_DECIMALS = 36
CHEAPEST, DEAREST = 1e-9, 1e9
BOUND = 0.1
"""How far a pool's mid price may be from the feeds': arbitrage, fees and feeds' own tolerances stay far below."""


@dataclass(frozen=True, slots=True)
class PriceFeed:
    """A price feed, and the symbols of the tokens that it prices; `address` in lower case."""

    name: str
    address: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """Dollar prices of whole tokens at one block.

    Parameters
    ----------
    read_at : int
        When, in seconds since 1970.
    dollars : mapping of Token to float
        What is known.
    faults : mapping of str to str
        Why a feed is not used, by its name.
    """

    read_at: int
    dollars: Mapping[Token, float] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)


def find_feeds(chain_id: int) -> tuple[PriceFeed, ...]:
    """Return the known feeds of a chain."""
    return tuple(
        PriceFeed(facts.get_text("name"), facts.get_address("feed"), facts.get_texts("symbols"))
        for facts in read_deployments("price_feeds", chain_id)
    )


def read_prices(feeds: Sequence[PriceFeed], tokens: ChainTokens, now: int) -> Reading[PriceBook]:
    """Read feeds; one that is silent, too old or out of bounds is not used, with the reason.

    Parameters
    ----------
    feeds : sequence of PriceFeed
        Of one chain.
    tokens : ChainTokens
        Where several have a symbol, the feed prices all of them.
    now : int
        The block's time.
    """
    answers = yield from ask_each(feeds, lambda feed: (LATEST_ROUND(feed.address), DECIMALS(feed.address)))
    dollars: dict[Token, float] = {}
    faults: dict[str, str] = {}
    for feed, asked in answers.items():
        try:
            (_, answer, _, updated_at, _), (decimals,) = (call.decode(outcome) for call, outcome in asked)
        except CallFailed as error:
            faults[feed.name] = str(error)
            continue
        price = answer / 10.0**decimals if 0 < answer < 2**128 and decimals <= MOST_DECIMALS else 0.0
        age_s = now - updated_at
        if not -MAX_AHEAD_S <= age_s <= MAX_AGE_S:
            faults[feed.name] = f"its price is {age_s} s old"
        elif not CHEAPEST <= price <= DEAREST:
            faults[feed.name] = f"its price of {price:g} dollars is out of bounds"
        else:
            dollars.update((token, price) for token in tokens if token.symbol in feed.symbols)
    return PriceBook(read_at=now, dollars=dollars, faults=faults)


def find_off_price(markets: Iterable[Market], book: PriceBook, bound: float = BOUND) -> dict[str, float]:
    """Return the pools whose mid price is off the book's by more than a factor ``1 + bound``, with that factor."""
    found: dict[str, float] = {}
    for market in markets:
        for first, second in market.edges():
            if first in book.dollars and second in book.dollars and first.chain_id == second.chain_id:
                factor = compute_mid_price(market, first, second) * book.dollars[second] / book.dollars[first]
                off = exp(abs(log(factor))) if factor > 0 and isfinite(factor) else float("inf")
                if off > 1 + bound:
                    found[market.id] = max(off, found.get(market.id, 0.0))
    return found


def compute_mid_price(market: Market, first: Token, second: Token) -> float:
    """Return whole `second` per whole `first` between the prices of both directions; or that of the one there is."""
    there, back = market.spot_price(first, second), market.spot_price(second, first)
    rate = sqrt(there / back) if there > 0 and back > 0 else there
    return float(rate * 10.0 ** (first.decimals - second.decimals))


def estimate_native_price(markets: Iterable[Market], book: PriceBook, chain_id: int) -> float | None:
    """Return the dollar price of a chain's coin as its own pools have it: the median over dollars' feeds.

    None where no pool trades it for another token of the book.
    """
    if chain_id not in CHAINS:
        return None
    coins = {CHAINS[chain_id].native_token, CHAINS[chain_id].wrapped_native_token}
    prices = sorted(
        compute_mid_price(market, first, second) * book.dollars[second]
        for market in markets
        for first, second in market.edges()
        if first in coins and second not in coins and second in book.dollars
    )
    return prices[len(prices) // 2] if prices else None

"""A settlement contract's and a driver's view of a solution: replayed from the JSON alone, independent of the solver.

Trades follow ``GPv2Settlement.sol`` and the driver's ``trade.rs``; constant-product pools follow ``UniswapV2Pair.sol``
here, other kinds are the library's markets, which are held to their contracts elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from routing_engine import Token
from routing_engine.auction.liquidity import read_liquidity

LIMIT = 2**256
PRICE_UNIT = 10**18


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a solution comes to: the score in wei, without protocol fees, and what the contract keeps of each token."""

    score: int
    kept: Mapping[str, int]
    paid: Mapping[str, Fraction]
    """By order: bought for each unit sold."""


def judge(auction: Mapping[str, Any], solution: Mapping[str, Any]) -> Judgement:
    """Replay a solution; an `AssertionError` says what the contract or the driver would refuse it for."""
    orders = {order["uid"].lower(): order for order in auction["orders"]}
    prices = {token.lower(): int(price) for token, price in solution["prices"].items()}
    assert all(0 < price < LIMIT for price in prices.values())
    held: Counter[str] = Counter()
    score, paid = 0, {}
    uids = [trade["order"] for trade in solution["trades"]]
    assert 0 < len(set(uids)) == len(uids), "each order settles once"
    payouts = []
    for trade in solution["trades"]:
        order = orders[trade["order"]]
        sold, bought = _execute(order, trade, prices)
        held[order["sellToken"].lower()] += sold
        payouts.append((order["buyToken"].lower(), bought))
        score += _score(order, sold, bought, auction["tokens"])
        paid[trade["order"]] = Fraction(bought, sold)
    _swap_all(auction, solution, held)
    for token, bought in payouts:
        held[token] -= bought
        assert held[token] >= 0, f"the contract lacks {-held[token]} of {token}"
    _check_directions(orders, paid, solution)
    return Judgement(score, dict(held), paid)


def _execute(order: Any, trade: Any, prices: Mapping[str, int]) -> tuple[int, int]:
    """Return what is sold, fee included, and bought, and hold both to the order."""
    executed, fee = int(trade["executedAmount"]), int(trade.get("fee", 0))
    sell_price, buy_price = prices[order["sellToken"].lower()], prices[order["buyToken"].lower()]
    assert executed > 0
    assert executed * max(sell_price, buy_price) < LIMIT
    full_sell, full_buy = int(order["sellAmount"]), int(order["buyAmount"])
    if order["kind"] == "sell":
        sold, bought, filled, whole = executed + fee, -(-executed * sell_price // buy_price), executed + fee, full_sell
    else:
        sold, bought, filled, whole = executed * buy_price // sell_price + fee, executed, executed, full_buy
    assert filled <= whole if order["partiallyFillable"] else filled == whole, "fill or kill"
    assert max(full_sell * bought, full_buy * sold) < LIMIT
    assert full_sell * bought >= full_buy * sold, "the limit"
    return sold, bought


def _score(order: Any, sold: int, bought: int, tokens: Mapping[str, Any]) -> int:
    full_sell, full_buy = int(order["sellAmount"]), int(order["buyAmount"])
    if order["kind"] == "sell":
        surplus, token = bought + (-sold * full_buy // full_sell), order["buyToken"]
    else:
        surplus, token = bought * full_sell // full_buy - sold, order["sellToken"]
    assert surplus >= 0
    known = {address.lower(): row for address, row in tokens.items()}
    return surplus * int(known.get(token.lower(), {}).get("referencePrice") or 0) // PRICE_UNIT


def _swap_all(auction: Any, solution: Any, held: Counter[str]) -> None:
    """Run the swaps in their order, each on what those before it left of its pool."""
    pools = {str(pool["id"]): pool for pool in auction["liquidity"]}
    reserves: dict[str, dict[str, int]] = {}
    markets: dict[str, Any] = {}
    for each in solution["interactions"]:
        pool, given, taken = pools[each["id"]], each["inputToken"], each["outputToken"]
        amount_in, amount_out = int(each["inputAmount"]), int(each["outputAmount"])
        held[given] -= amount_in
        assert held[given] >= 0, f"the contract lacks {-held[given]} of {given} to swap"
        held[taken] += amount_out
        if pool["kind"] == "constantProduct":
            start = {token.lower(): int(row["balance"]) for token, row in pool["tokens"].items()}
            state = reserves.setdefault(each["id"], start)
            kept = 1 - Fraction(str(pool["fee"]))
            added = amount_in * kept
            assert amount_out <= added * state[taken] / (state[given] + added) < amount_out + 1, "to the unit"
            state[given], state[taken] = state[given] + amount_in, state[taken] - amount_out
        else:
            market = markets.get(each["id"]) or read_liquidity(pool, _make_finder(auction))
            ends = {token.address: token for token in market.tokens}
            hop, markets[each["id"]] = market.swap_exact_in(ends[given], ends[taken], amount_in)
            assert hop.amount_out == amount_out, "to the unit"


def _make_finder(auction: Any) -> Any:
    known = {address.lower(): row for address, row in auction["tokens"].items()}

    def find(address: str) -> Token:
        decimals = known.get(address, {}).get("decimals")
        return Token(chain_id=1, address=address, symbol="", decimals=18 if decimals is None else decimals)

    return find


def _check_directions(orders: Any, paid: Mapping[str, Fraction], solution: Any) -> None:
    """Orders of one direction get one price after fees, to the units that rounding takes."""
    fills = {trade["order"]: trade for trade in solution["trades"]}
    first: dict[tuple[str, str], tuple[Fraction, int]] = {}
    for uid, price in paid.items():
        order, fill = orders[uid], int(fills[uid]["executedAmount"])
        pair = order["sellToken"].lower(), order["buyToken"].lower()
        bought = fill if order["kind"] == "buy" else fill * price
        sold = fill if order["kind"] == "sell" else fill / price
        size = min(int(bought), int(sold))
        known, other = first.setdefault(pair, (price, size))
        assert abs(known - price) * min(size, other) <= 4 * max(known, price), "one direction, one price"

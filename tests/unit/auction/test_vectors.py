"""What CoW Protocol's own baseline solver answers for known auctions.

Numbers of `crates/solvers/src/tests/baseline` in cowprotocol/services: `bal_liquidity.rs` at commit
04360a4dd3d3c6cea6d92d7f17296115c47d39f7 and `buy_order_rounding.rs` at 0153dd7d22c3705369c494e59a6f003e2b89d654.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from routing_engine.auction.reading import read_auction
from routing_engine.auction.solver import solve_auction
from routing_engine.auction.writing import write_solutions
from tests.support.cow.auctions import NOTHING, UNIT, WETH, write_auction, write_order, write_pair, write_token
from tests.support.cow.schema import ANSWER, AUCTION
from tests.support.cow.validator import judge

GNO, COW = "0x6810e776880c02933d47db1b9fc05908e5386b96", "0xdef1ca1fb7fbcdc777520aa7f396b4e015f497ab"
DAI, USDC = "0x6b175474e89094c44da98b954eedeac495271d0f", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"


def solve(body: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """Return the solutions as they are sent, each of which the contract would settle."""
    jsonschema_rs.validate(AUCTION, body)
    auction = read_auction(body)
    assert not auction.skipped, auction.skipped
    solved = solve_auction(auction, **options)
    answer = write_solutions(solved.solutions)
    jsonschema_rs.validate(ANSWER, answer)
    for solution, written in zip(solved.solutions, answer["solutions"], strict=True):
        fees_are_taken = any(trade.order.fee_policies for trade in solution.trades)
        owners = judge(body, written).score  # protocol fees are no part of it
        assert owners < solution.score if fees_are_taken else owners == solution.score
    return answer["solutions"]


def weighted(balances: tuple[int, int], version: str) -> dict[str, Any]:
    rows = zip((GNO, COW), balances, strict=True)
    return {
        "kind": "weightedProduct", "id": "0", "address": GNO, "balancerPoolId": NOTHING, "fee": "0.005",
        "gasEstimate": "88892", "version": version,
        "tokens": {token: {"balance": str(each), "scalingFactor": "1", "weight": "0.5"} for token, each in rows},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("balances", "version", "bought"),
    [
        ((11260752191375725565253, 18764168403990393422000071), "v0", 1657855325872947866705),
        ((3043530764763263654069, 5089632258314443812936111), "v3Plus", 1663373703594405548696),
    ],
)
def test_weighted_pools(balances: tuple[int, int], version: str, bought: int) -> None:
    tokens = {GNO: write_token(59970737022467696), COW: write_token(35756662383952)}
    order = write_order(42, GNO, COW, (UNIT, 1), **{"class": "market"})
    [solution] = solve(write_auction([order], [weighted(balances, version)], tokens, effectiveGasPrice="1000000000"))
    [trade], [swap] = solution["trades"], solution["interactions"]
    assert (trade["executedAmount"], "fee" in trade) == (str(UNIT), False)
    assert (swap["inputAmount"], swap["outputAmount"]) == (str(UNIT), str(bought))


@pytest.mark.parametrize(("kind", "sold", "bought"), [("sell", 10**19, 9999475), ("buy", 10000524328839166557, 10**7)])
def test_stable_pools(kind: str, sold: int, bought: int) -> None:
    """The baseline inverts the formula; the least input that buys as much is some units of 1e-18 less."""
    rows = ((DAI, 505781036390938593206504, 1), (USDC, 554894862074, 10**12), (USDT, 1585576741011, 10**12))
    pool = {
        "kind": "stable", "id": "0", "address": DAI, "balancerPoolId": NOTHING, "fee": "0.0001",
        "gasEstimate": "183520", "amplificationParameter": "5000.0",
        "tokens": {token: {"balance": str(balance), "scalingFactor": str(scale)} for token, balance, scale in rows},
    }  # fmt: skip
    tokens = {DAI: write_token(597423824203645), USDC: write_token(597647838715990684620292096, 6)}
    limits = (10**19, 9500000) if kind == "sell" else (10500000000000000000, 10**7)
    order = write_order(1, DAI, USDC, limits, kind=kind, **{"class": "market"})
    [solution] = solve(write_auction([order], [pool], tokens))
    [swap] = solution["interactions"]
    assert int(swap["outputAmount"]) == bought
    assert int(swap["inputAmount"]) == pytest.approx(sold, rel=1e-6)
    assert int(swap["inputAmount"]) <= sold


def test_buy_orders_are_rounded_in_favour_of_their_owners() -> None:
    pool = write_pair(0, (USDC, WETH), (30493445841295, 16551311935742077745684))
    tokens = {USDC: write_token(543222446200924874026413848, 6), WETH: write_token(UNIT)}
    order = write_order(42, USDC, WETH, (2 * 10**9, UNIT), kind="buy", **{"class": "market"})
    [solution] = solve(write_auction([order], [pool], tokens))
    [swap], [trade] = solution["interactions"], solution["trades"]
    assert (swap["inputAmount"], swap["outputAmount"]) == ("1848013595", "1000000000428620302")
    assert trade["executedAmount"] == str(UNIT)


def test_a_limit_order_pays_its_gas() -> None:
    """As `partial_fill.rs` counts it: 106,391 units and the pool's, at the reference price of the token sold."""
    pool = write_pair(0, (WETH, COW), (3828187314911751990, 179617892578796375604692))
    tokens = {WETH: write_token(UNIT), COW: write_token(53125132573502)}
    order = write_order(42, WETH, COW, (UNIT, 40000 * UNIT), partiallyFillable=True)
    [solution] = solve(write_auction([order], [pool], tokens))
    [trade], [swap] = solution["trades"], solution["interactions"]
    assert (trade["fee"], solution["gas"]) == ("2495865000000000", 166391)
    assert swap["inputAmount"] == trade["executedAmount"], "what is charged is not swapped"
    assert 0 < int(trade["executedAmount"]) < UNIT // 2, "where surplus is largest the last unit sold gains nothing"
    assert judge(write_auction([order], [pool], tokens), solution).score > 0

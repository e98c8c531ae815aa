"""What the report says a trade could have brought at least is what the contracts pay, to the wei."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from routing_engine import History, HistoryWriter, Router
from routing_engine.analysis.execution import SettledTrade, judge_trade
from tests.evm.test_follow import follower_of
from tests.support.capture import Uniswap, running_uniswap
from tests.support.evm import ACTOR, FOREVER

pytestmark = pytest.mark.xdist_group("best execution")
AMOUNT = 3 * 10**22 + 7


@pytest.fixture(scope="module")
def venue() -> Iterator[Uniswap]:
    with running_uniswap(1) as venue:
        venue.add_pair(0, 1, 10**24, 10**24)
        venue.add_pair(0, 2, 10**24, 10**24)
        venue.add_pair(1, 2, 10**24, 10**24)
        venue.add_pool(0, 1, 3000).mint(-1200, 1200, 10**23, 10**23)
        venue.add_pool(0, 1, 500).mint(-600, 1200, 10**23, 10**23)
        yield venue


def balance(venue: Uniswap, number: int) -> int:
    return venue.contracts[number]("balanceOf", ACTOR)


def test_the_better_route_is_executed_and_pays_what_is_said(venue: Uniswap, tmp_path: Path) -> None:
    sold, bought = venue.tokens[:2]
    path = tmp_path / "chain.recording"
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        follower.record_new()
        with venue.chain.undone():
            held = balance(venue, 1)
            addresses = [token.address for token in venue.contracts[:2]]
            venue.v2.router("swapExactTokensForTokens", AMOUNT, 0, addresses, ACTOR, FOREVER)
            got, block = balance(venue, 1) - held, venue.chain.number
            follower.record_new()
            receipt = venue.chain.rpc(
                "eth_getTransactionReceipt",
                venue.chain.rpc("eth_getBlockByNumber", hex(block), False)["transactions"][0],
            )
    history = History.open(path)
    router = Router(history.at(block - 1))
    trade = SettledTrade(token_in=sold, token_out=bought, amount_in=AMOUNT, amount_out=got)
    report = judge_trade(router, trade)
    assert got == int(receipt["logs"][-1]["data"][2:][64 * 3 :], 16), "what the pair's own event says"
    assert len(report.best.hops) > 2
    assert report.at_least_bps > 100
    assert report.at_least <= report.at_most
    assert report.at_most - report.at_least < report.best_net / 10_000, "the proof is close"
    held = balance(venue, 0), balance(venue, 1)
    for hop in report.best.hops:
        venue.execute(hop)
    assert held[0] - balance(venue, 0) == AMOUNT
    assert balance(venue, 1) - held[1] == got + report.at_least, "to the wei"
    after = Router(history.at(block))
    assert judge_trade(after, trade).at_least != report.at_least, "the trade itself has moved the market by then"
    with_gas = judge_trade(router, SettledTrade(
        token_in=sold, token_out=bought, amount_in=AMOUNT, amount_out=got, gas=int(receipt["gasUsed"], 16)
    ))  # fmt: skip
    assert with_gas.best.gas_cost_out == 0, "no market on this chain says what the coin is worth"
    assert with_gas.at_least == report.at_least

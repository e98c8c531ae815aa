"""Every solution of any auction is one that the contract settles, and no batch is unfair to a direction."""

from __future__ import annotations

from hypothesis import given, settings

from routing_engine.auction.reading import read_auction
from routing_engine.auction.solver import solve_auction
from routing_engine.auction.writing import write_solutions
from tests.support.cow.auctions import auctions
from tests.support.cow.validator import judge

settings.register_profile("repeatable", deadline=None, derandomize=True)
REPEATABLE = settings.get_profile("repeatable")


@given(body=auctions())
@settings(REPEATABLE, max_examples=40)
def test_solutions_settle(body):
    auction = read_auction(body)
    assert not auction.skipped
    solved = solve_auction(auction)
    for solution, written in zip(solved.solutions, write_solutions(solved.solutions)["solutions"], strict=True):
        assert judge(body, written).score == solution.score > 0
        assert solution.gas >= 106_391 + sum(hop.gas for hop in solution.hops)
        paid = sum(
            trade.fee * int(body["tokens"][trade.order.sell.address]["referencePrice"])
            for trade in solution.trades
            if trade.order.pays_gas
        )
        if all(trade.order.pays_gas for trade in solution.trades):
            assert paid >= solution.gas * auction.gas_price * 10**18, "fees pay for the gas"

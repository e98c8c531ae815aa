"""An amount far beyond what there is to buy: more gives about as much as less."""

from __future__ import annotations

from routing_engine import Router, RouteRequest, Snapshot

NEARLY = 0.97
"""The part of what a smaller amount gives that a larger one gives at least: searches end apart by some hundred basis
points there."""


def test_more_gives_nearly_as_much_as_less() -> None:
    """It once gave 19 % less."""
    router = Router(Snapshot.sandbox())
    less, more = (
        router.find_routes(RouteRequest(token_in="WBTC@1", token_out="DAI@10", amount=amount)).best()
        for amount in (10**11, 10**13)
    )
    assert more.amount_out_net >= less.amount_out_net * NEARLY

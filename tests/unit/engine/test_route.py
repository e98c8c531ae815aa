"""Routes that divide and meet: amounts, paths, times."""

from __future__ import annotations

from routing_engine.model import Hop, Token
from routing_engine.route import Route, Side
from tests.support.markets import token

A, B, C, D = (token(name) for name in "ABCD")
FAR = token("C@10")


def hop(market: str, token_in: Token, token_out: Token, amount_in: int, amount_out: int, **more: float) -> Hop:
    return Hop(
        market_id=market, protocol=market, token_in=token_in, token_out=token_out, amount_in=amount_in,
        amount_out=amount_out, gas=100, **more,
    )  # fmt: skip


# A divides into B (600) and C (400); C's 400 divides again, and all of B and half of C meet in the market "bd".
NETWORK = Route(
    token_in=A,
    token_out=D,
    side=Side.EXACT_IN,
    hops=(
        hop("ab", A, B, 600, 601),
        hop("ac", A, C, 400, 400),
        hop("cb", C, B, 200, 199),
        hop("cd", C, D, 200, 205),
        hop("bd", B, D, 800, 805),
    ),
)


def test_a_network_adds_up_at_its_ends() -> None:
    assert (NETWORK.amount_in, NETWORK.amount_out, NETWORK.gas) == (1000, 1010, 500)
    assert str(NETWORK) == (
        "A@1 -[ab]-> B@1 -[bd]-> D@1; A@1 -[ac]-> C@1 -[cb]-> B@1 -[bd]-> D@1; A@1 -[ac]-> C@1 -[cd]-> D@1"
    )


def test_paths_show_every_hops_amounts_exactly_and_meet_within_rounding() -> None:
    for each in NETWORK.hops:
        parts = [part for path in NETWORK.paths for part in path.hops if part.market_id == each.market_id]
        assert sum(part.amount_in for part in parts) == each.amount_in
        assert sum(part.amount_out for part in parts) == each.amount_out
    for path in NETWORK.paths:
        for first, second in zip(path.hops, path.hops[1:], strict=False):
            assert abs(first.amount_out - second.amount_in) <= 2


def test_one_chain_is_one_transaction_and_bridges_are_waited_for() -> None:
    assert [leg.chain_id for leg in NETWORK.legs] == [1]
    assert NETWORK.fill_time_s == 12
    quick = hop("quick", C, FAR, 300, 300, fill_time_s=60)
    slow = hop("slow", C, FAR, 100, 100, fill_time_s=900)
    route = Route(token_in=A, token_out=FAR, side=Side.EXACT_IN, hops=(hop("ac", A, C, 400, 400), quick, slow))
    assert [len(leg.hops) for leg in route.legs] == [3]
    assert route.fill_time_s == 12 + 900


def test_price_impact_is_against_the_same_hops_at_their_spot_prices() -> None:
    hops = (hop("ab", A, B, 500, 450, spot_price=1.0), hop("ab2", A, B, 500, 500, spot_price=1.0))
    route = Route(token_in=A, token_out=B, side=Side.EXACT_IN, hops=hops)
    assert abs(route.price_impact - 0.05) < 1e-12

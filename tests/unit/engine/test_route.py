"""Routes that divide and meet: amounts, paths, times."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.model import Fee, Hop, Token
from routing_engine.route import Route, Side
from tests.support.markets import random_markets, token

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
        "A@1 -[ab]-> B@1 -[bd]-> D@1\nA@1 -[ac]-> C@1 -[cb]-> B@1 -[bd]-> D@1\nA@1 -[ac]-> C@1 -[cd]-> D@1"
    )


def check_paths(route: Route) -> None:
    """Check that the paths hold exactly what the hops hold, and that each spends what its hop before gave."""
    paths = route.paths
    for each in route.hops:
        parts = [part for path in paths for part in path.hops if part.market_id == each.market_id]
        assert sum(part.amount_in for part in parts) == each.amount_in
        assert sum(part.amount_out for part in parts) == each.amount_out
        assert sum(part.gas for part in parts) == each.gas
        for number, fee in enumerate(each.fees):
            shares = [part.fees[number] for part in parts]
            assert sum(share.amount for share in shares) == fee.amount
            assert {(share.token, share.name, share.included) for share in shares} == {
                (fee.token, fee.name, fee.included)
            }
    for path in paths:
        assert (path.hops[0].token_in, path.hops[-1].token_out) == (route.token_in, route.token_out)
        for first, second in pairwise(path.hops):
            assert first.amount_out == second.amount_in
    assert sum(path.amount_in for path in paths) == route.amount_in
    assert sum(path.amount_out for path in paths) == route.amount_out


def test_paths_show_every_hops_amounts_exactly_and_meet_to_the_unit() -> None:
    check_paths(NETWORK)
    assert len(NETWORK.paths) == 3


def test_paths_that_share_a_market_share_its_price_its_fees_and_its_gas() -> None:
    """Of what the last market takes, "ac" and "cb" bring a fifth, although half of A went there."""
    fees = (Fee(amount=100, token=B, name="lp_fee"),)
    hops = (
        hop("ab", A, B, 500, 800),
        hop("ac", A, C, 500, 400),
        hop("cb", C, B, 400, 200),
        replace(hop("bd", B, D, 1000, 3000), fees=fees),
    )
    route = Route(token_in=A, token_out=D, side=Side.EXACT_IN, hops=hops)
    check_paths(route)
    straight, detour = sorted(route.paths, key=lambda path: len(path.hops))
    assert (straight.amount_out, detour.amount_out) == (2400, 600)
    assert [straight.hops[-1].fees[0].amount, detour.hops[-1].fees[0].amount] == [80, 20]
    assert [straight.hops[-1].gas, detour.hops[-1].gas] == [80, 20]
    assert sum(part.gas for path in route.paths for part in path.hops) == route.gas == 400


def test_two_paths_through_one_token_are_not_cut_into_more_than_they_must_be() -> None:
    hops = (hop("ab", A, B, 10, 100), hop("ab2", A, B, 5, 50), hop("bd2", B, D, 50, 7), hop("bd", B, D, 100, 13))
    route = Route(token_in=A, token_out=D, side=Side.EXACT_IN, hops=hops)
    check_paths(route)
    assert str(route) == "A@1 -[ab]-> B@1 -[bd]-> D@1\nA@1 -[ab2]-> B@1 -[bd2]-> D@1"


@pytest.mark.parametrize("side", list(Side))
def test_paths_of_found_routes_add_up_to_them(side: Side) -> None:
    shared = 0
    for seed in range(20):
        rng = random.Random(f"paths {seed}")
        router = Router(Snapshot(random_markets(rng)))
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        fixed = token_in if side is Side.EXACT_IN else token_out
        amount = int(10 ** rng.uniform(2, 6) * 10**fixed.decimals)
        request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount, side=side)
        for route in router.find_routes(request).routes:
            check_paths(route)
            shared += sum(len(path.hops) for path in route.paths) > len(route.hops)
    assert shared > 1


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


def test_a_fingerprint_is_that_of_markets_and_directions_whatever_the_amounts() -> None:
    larger = tuple(replace(each, amount_in=2 * each.amount_in, amount_out=2 * each.amount_out) for each in NETWORK.hops)
    reordered = (larger[1], larger[0], larger[3], larger[2], larger[4])  # amounts decide which hop comes first
    assert replace(NETWORK, hops=reordered).fingerprint == NETWORK.fingerprint
    of_three = (replace(NETWORK.hops[0], token_out=C), *NETWORK.hops[1:])
    assert replace(NETWORK, hops=of_three).fingerprint != NETWORK.fingerprint
    from_another = (*NETWORK.hops[:2], replace(NETWORK.hops[2], token_in=A), *NETWORK.hops[3:])
    assert replace(NETWORK, hops=from_another).fingerprint != NETWORK.fingerprint

"""Chains that a request admits or leaves out: no route passes through another one, whichever direction lanes have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from routing_engine import InvalidRequest, NoRoute, Router, RouteRequest, Snapshot
from routing_engine.archive.request_records import describe_request, read_request
from tests.support.markets import market_of, token

MARKET = """
    direct: A@1 > B@10 30bps 60s
    up: A@1 > A@137 60s
    over: A@137 B@137 100000 100000 1bps
    down: B@137 > B@10 60s
    around: A@1 > A@8453 60s
    back: A@8453 > A@1 60s
    there: A@8453 > B@10 10bps 60s
"""
"""One-way lanes: directly at 30 bps, by 137 at about 1, by 8453 at 10."""

REQUEST = RouteRequest(token_in=token("A"), token_out=token("B@10"), amount=10**18)


def find_chains(**options: Any) -> set[int]:
    """Return the chains on which the best route's amounts are at some time."""
    best = Router(Snapshot(market_of(MARKET))).find_routes(replace(REQUEST, **options)).best()
    return {each.chain_id for hop in best.hops for each in (hop.token_in, hop.token_out)}


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_a_route_passes_through_admitted_chains_alone(side: str) -> None:
    assert find_chains(side=side) == {1, 10, 137}
    assert find_chains(side=side, deny_chains={137}) == {1, 10, 8453}
    assert find_chains(side=side, allow_chains=[1, 10, 8453]) == {1, 10, 8453}
    assert find_chains(side=side, deny_chains=(137, 8453)) == {1, 10}
    assert find_chains(side=side, allow_chains={1, 10, 137}, deny_chains={137}) == {1, 10}


def test_protocols_and_chains_are_left_out_together() -> None:
    assert find_chains(deny_chains={137}, deny_protocols={"there"}) == {1, 10}
    asked = replace(REQUEST, deny_chains=[137, 8453], deny_protocols={"direct"})
    with pytest.raises(NoRoute, match="let it use more protocols, or more chains"):
        Router(Snapshot(market_of(MARKET))).find_routes(asked).best()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deny_chains": {1}}, "deny_chains: leaves out chain 1, where token_in"),
        ({"allow_chains": {1, 137}}, "allow_chains: leaves out chain 10, where token_out"),
        ({"allow_chains": []}, "allow_chains: is empty, so no market could be used"),
        ({"deny_chains": 137}, "deny_chains: must be a collection of chain ids, such as {1, 8453}, not 137"),
        ({"deny_chains": ["137"]}, "deny_chains: must be a collection of chain ids"),
        ({"deny_chains": {42161}}, "deny_chains: chain 42161 is not in this snapshot; its chains are 1, 10, 137, 8453"),
        ({"allow_chains": {1, 10, 5}}, "allow_chains: chain 5 is not in this snapshot"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        find_chains(**options)


def test_named_tokens_are_checked_when_they_are_looked_up() -> None:
    asked = RouteRequest(token_in="A@1", token_out="B@10", amount=1, deny_chains={10})
    with pytest.raises(InvalidRequest, match="deny_chains: leaves out chain 10, where token_out"):
        Router(Snapshot(market_of(MARKET))).find_routes(asked)


def test_an_archive_keeps_them() -> None:
    asked = replace(REQUEST, allow_chains={1, 10, 137}, deny_chains={137})
    record = describe_request(asked)
    assert (record["allow_chains"], record["deny_chains"]) == ([1, 10, 137], [137])
    again = read_request(record)
    assert (again.allow_chains, again.deny_chains) == (asked.allow_chains, asked.deny_chains)

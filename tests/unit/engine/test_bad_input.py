"""What a caller gets wrong is said, with the field and the remedy; tokens go by name, amounts by whole tokens."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from routing_engine import AmbiguousToken, InvalidRequest, NoRoute, Router, RouteRequest, Snapshot, UnknownToken
from routing_engine.markets import ConstantProductPool
from tests.support.markets import market_of, token

UNIT = 10**18
A, B, C = (token(name) for name in "ABC")
SNAPSHOT = Snapshot(market_of("ab: A B 1000 1000 30bps\nab2: A B 1000 1000 5bps"))
REQUEST = RouteRequest(token_in=A, token_out=B, amount=UNIT)


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(SNAPSHOT)


def test_tokens_go_by_name_and_by_address(router: Router) -> None:
    meant = router.find_routes(REQUEST)
    for token_in, token_out in (("A@1", "B@1"), ("a", B), (A, B.key), (A.address, B.key)):
        named = router.find_routes(RouteRequest(token_in=token_in, token_out=token_out, amount=UNIT))
        assert named == meant
        assert named.request.token_in == A
    assert router.pareto(RouteRequest(token_in="A@1", token_out="B@1", amount=UNIT)).routes == meant.routes
    assert [*router.stream(RouteRequest(token_in="A@1", token_out="B@1", amount=UNIT))][-1] == meant
    assert router.quote_many(["A@1", A], "B@1", UNIT).results == (meant, meant)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"token_in": C}, UnknownToken, r"token_in: C@1 \(0x.*63@1\) is not in this market; .*snapshot.token"),
        ({"token_out": "C@1"}, UnknownToken, "token_out: 'C@1' is not in this market"),
        ({"token_out": "B@10"}, UnknownToken, "token_out: 'B@10' is not in this market; did you mean B@1"),
        ({"token_out": "A@1"}, InvalidRequest, "token_out: is the same token as token_in"),
        ({"token_in": replace(A, decimals=6)}, InvalidRequest, "token_in: A@1 has 18 decimals in this market, not 6"),
        ({"allow_protocols": frozenset({"ab", "abb"})}, InvalidRequest, "allow_protocols: .*'abb'; choose from ab"),
        ({"deny_protocols": frozenset({"univ3"})}, InvalidRequest, "deny_protocols: .*'univ3'; choose from ab, ab2"),
        ({"gas_prices": {10: 1}}, InvalidRequest, "gas_prices: chain 10 is not in this snapshot; its chains are 1"),
    ],
)
def test_what_the_market_does_not_have_is_said(
    router: Router, changes: dict[str, Any], error: type[InvalidRequest], message: str
) -> None:
    wrong = replace(REQUEST, **changes)
    for ask in (router.find_routes, router.pareto, lambda request: next(router.stream(request))):
        with pytest.raises(error, match=message):
            ask(wrong)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"token_in": 7}, "token_in: expected a Token, or a name such as 'WETH@1', got int"),
        ({"token_out": None}, "token_out: expected a Token, or a name such as 'WETH@1', got NoneType"),
        ({"allow_protocols": "uniswap_v3"}, "allow_protocols: expected a set of names"),
        ({"deny_protocols": None}, "deny_protocols: expected a set of names"),
        ({"deny_protocols": frozenset({7})}, "deny_protocols: expected a set of names"),
        ({"gas_prices": 30}, "gas_prices: expected wei by chain id"),
        ({"gas_prices": {"1": 30}}, "gas_prices: expected chain ids as ints"),
        ({"gas_prices": {1: 30.5}}, "gas_prices: chain 1: expected wei as an int of at least 0, not 30.5"),
        ({"gas_prices": {1: "30"}}, "gas_prices: chain 1: expected wei as an int of at least 0, not '30'"),
    ],
)
def test_what_no_market_could_make_good_is_said_at_once(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        replace(REQUEST, **changes)


def test_an_ambiguous_name_lists_the_addresses() -> None:
    twin = replace(B, address="0x" + "9" * 40)
    pool = ConstantProductPool(
        id="twin", protocol="ab", token0=A, token1=twin, reserve0=UNIT, reserve1=UNIT, fee_pips=3000
    )
    router = Router(Snapshot([*SNAPSHOT.markets.values(), pool]))
    with pytest.raises(AmbiguousToken, match=f"token_out: 'B@1' may be {B.key}.*{twin.key}"):
        router.find_routes(RouteRequest(token_in="A@1", token_out="B@1", amount=UNIT))


def test_an_empty_snapshot_is_said() -> None:
    router = Router(Snapshot([]))
    for request in (REQUEST, RouteRequest(token_in="A@1", token_out="B@1", amount=UNIT)):
        with pytest.raises(UnknownToken, match=r"token_in: .*the snapshot has no markets at all"):
            router.find_routes(request)


def test_a_token_that_nothing_serves_is_no_bad_input() -> None:
    apart = Router(Snapshot(market_of("ab: A B 1000 1000 30bps\ncd: C D 1000 1000 30bps")))
    with pytest.raises(NoRoute):
        apart.find_routes(replace(REQUEST, token_out=C)).best()


def test_a_column_of_wrong_tokens_names_the_position(router: Router) -> None:
    for wrong, error in (("C@1", UnknownToken), (C, UnknownToken), (9, InvalidRequest), (None, InvalidRequest)):
        with pytest.raises(error, match=r"token_in: .*\(request 1\)"):
            router.quote_many([A, wrong], B, UNIT)


@pytest.mark.parametrize(
    ("amount", "units"),
    [
        ("1.5", 1_500_000),
        ("0.000001", 1),
        (".5", 500_000),
        (3, 3_000_000),
        (Decimal("1e3"), 10**9),
        (Decimal("0.1"), 10**5),
    ],
)
def test_whole_tokens_become_units_exactly(amount: str | int | Decimal, units: int) -> None:
    assert token("A", 6).units(amount) == units


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (1.5, r"amount: 1.5 is a float, which is not exact; write it as text"),
        (True, "amount: True is a bool"),
        ("0.0000001", "amount: .* A@1 has only 6; shorten it"),
        ("1,5", "amount: '1,5' is not an amount"),
        (-1, "amount: '-1' is not an amount"),
        (Decimal("NaN"), "amount: 'NaN' is not an amount"),
        (Decimal("1e-7"), "amount: .* has only 6"),
    ],
)
def test_what_is_no_exact_amount_is_refused(amount: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        token("A", 6).units(amount)

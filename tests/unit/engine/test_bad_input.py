"""What a caller gets wrong is said, with the field and the remedy; tokens go by name, amounts by whole tokens."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from routing_engine import (
    AmbiguousToken,
    BadMarketFile,
    InvalidMarket,
    InvalidRequest,
    NoRoute,
    PriceImpactTooHigh,
    Router,
    RouteRequest,
    Snapshot,
    UnknownToken,
)
from routing_engine.markets import ConcentratedPool, ConstantProductPool, LadderMarket, Level
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
    assert router.find_pareto_set(RouteRequest(token_in="A@1", token_out="B@1", amount=UNIT)).routes == meant.routes
    assert [*router.stream(RouteRequest(token_in="A@1", token_out="B@1", amount=UNIT))][-1] == meant
    assert router.quote_many(["A@1", A], "B@1", UNIT).results == (meant, meant)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"token_in": C}, UnknownToken, r"token_in: C@1 \(0x.*63@1\) is not in this market; .*snapshot.token"),
        ({"token_out": "C@1"}, UnknownToken, "token_out: 'C@1' is not in this market"),
        ({"token_out": "B@10"}, UnknownToken, "'B@10' is not in this market; its chains are 1; did you mean B@1"),
        ({"token_out": f"{B.address}@9"}, UnknownToken, "@9' is not in this market; its chains are 1"),
        ({"token_out": "A@1"}, InvalidRequest, "token_out: is the same token as token_in"),
        ({"token_in": replace(A, decimals=6)}, InvalidRequest, "token_in: A@1 has 18 decimals in this market, not 6"),
        (
            {"allow_protocols": frozenset({"ab", "abb"})},
            InvalidRequest,
            "allow.*'abb'; did you mean ab[?] Here are ab,",
        ),
        ({"deny_protocols": frozenset({"univ3"})}, InvalidRequest, "deny_protocols: .*'univ3'; here are ab, ab2"),
        ({"gas_prices": {10: 1}}, InvalidRequest, "gas_prices: chain 10 is not in this snapshot; its chains are 1"),
    ],
)
def test_what_the_market_does_not_have_is_said(
    router: Router, changes: dict[str, Any], error: type[InvalidRequest], message: str
) -> None:
    wrong = replace(REQUEST, **changes)
    for ask in (router.find_routes, router.find_pareto_set, lambda request: next(router.stream(request))):
        with pytest.raises(error, match=message):
            ask(wrong)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"token_in": 7}, "token_in: must be a Token, or a name such as 'WETH@1', not 7$"),
        ({"token_out": None}, "token_out: must be a Token, or a name such as 'WETH@1', not None$"),
        ({"amount": 1.5}, "amount: must be an int in smallest units, not 1.5; of whole tokens token.units"),
        ({"amount": "5"}, "amount: must be an int in smallest units, not '5'"),
        ({"amount": True}, "amount: must be an int in smallest units, not True"),
        ({"amount": np.float64(5)}, "amount: must be an int in smallest units, not np.float64"),
        ({"amount": 0}, r"amount: must be from 1 to 2\*\*256 - 1 smallest units, not 0$"),
        ({"amount": -3}, "amount: must be from 1 .* not -3$"),
        ({"amount": 10**200}, "amount: must be from 1 .* not 10{79}…$"),
        ({"side": "sell"}, "side: must be 'exact_in' or 'exact_out', not 'sell'"),
        ({"side": ["exact_in"]}, r"side: must be 'exact_in' or 'exact_out', not \['exact_in'\]"),
        ({"order": {}}, "order: must be one of cheapest, .* not {}"),
        ({"max_hops": 7}, "max_hops: must be an int from 1 to 6, not 7"),
        ({"max_hops": 2.0}, "max_hops: must be an int from 1 to 6, not 2.0"),
        ({"value_of_time": "1"}, "value_of_time: must be a number of bps from 0 to 10,000, not '1'"),
        ({"max_price_impact_bps": float("nan")}, "max_price_impact_bps: must be a number of bps .* not nan"),
        ({"allow_protocols": []}, "allow_protocols: is empty, so no market could be used; leave it out"),
        ({"max_hop": 3}, "max_hop: is no option of RouteRequest; choose from max_hops"),
        ({"zzz": 3}, "zzz: is no option of RouteRequest; choose from allow_chains, allow_protocols, "),
        ({"max_price_impact_bps": -1}, "max_price_impact_bps: must be a number of bps from 0 to 10,000, not -1"),
        ({"allow_protocols": "uniswap_v3"}, "allow_protocols: must be a collection of names, .* not 'uniswap_v3'"),
        ({"deny_protocols": None}, "deny_protocols: must be a collection of names, .* not None"),
        ({"deny_protocols": [7]}, r"deny_protocols: must be a collection of names, .* not \[7\]"),
        ({"gas_prices": 30}, "gas_prices: must be wei by chain id, .* not 30"),
        ({"gas_prices": {"1": 30}}, "gas_prices: chain ids must be ints, .* not '1'"),
        ({"gas_prices": {1: 30.5}}, "gas_prices: chain 1: wei must be an int of at least 0, not 30.5"),
        ({"gas_prices": {1: -1}}, "gas_prices: chain 1: wei must be an int of at least 0, not -1"),
    ],
)
def test_what_no_market_could_make_good_is_said_at_once(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        replace(REQUEST, **changes)


@pytest.mark.parametrize("protocols", [["ab", "ab2"], ("ab",), {"ab"}, {"ab": 1}.keys(), np.array(["ab", "ab2"])])
def test_integers_of_numpy_and_any_collection_of_names_are_taken(router: Router, protocols: Any) -> None:
    plain = replace(REQUEST, max_hops=2, gas_prices={1: 10**10}, allow_protocols=frozenset(map(str, protocols)))
    loose = replace(
        REQUEST,
        amount=np.int64(UNIT),
        max_hops=np.int32(2),
        value_of_time=np.float32(2),
        gas_prices={np.int64(1): np.uint64(10**10)},
        allow_protocols=protocols,
        deny_protocols=[],
    )
    assert replace(loose, value_of_time=None) == plain
    assert {type(loose.amount), type(loose.max_hops), *map(type, loose.gas_prices or ())} == {int}
    assert type(loose.value_of_time) is float
    assert router.find_routes(loose).best().amount_out == router.find_routes(plain).best().amount_out


def test_gas_prices_that_change_later_leave_the_request_as_it_is() -> None:
    prices = {1: 10**10}
    request = replace(REQUEST, gas_prices=prices)
    prices[1] = 5
    assert request.gas_prices == {1: 10**10}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda router: router.find_routes({"amount": 1}), "request: must be a RouteRequest, not {'amount': 1}; make"),
        (lambda router: router.find_routes(None), "request: must be a RouteRequest, not None; make one"),
        (lambda router: router.find_pareto_set(5), "request: must be a RouteRequest, not 5; make one"),
        (lambda router: next(router.stream("x" * 200)), "request: must be a RouteRequest, not 'x{79}…; make one"),
        (lambda _: Router("market.json"), "snapshot: must be a Snapshot, not 'market.json'; read one: Snapshot.load"),
        (lambda router: router.follow(None), "snapshot: must be a Snapshot, not None; read one"),
        (lambda router: router.snapshot.token(5), "token: must be a name such as 'WETH@1', not 5"),
    ],
)
def test_an_object_of_another_kind_is_refused_with_a_remedy(
    router: Router, ask: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"^{message}"):
        ask(router)


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
        with pytest.raises(error, match=r"token_in: .*\(request 1, counted from 0\)"):
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


@pytest.mark.parametrize("numbers", [{"1": 1}, {0: 1}, {True: 1}, {1: -1}, {1: 1.5}, {1: None}, {1: "10"}, 10, [1]])
@pytest.mark.parametrize("field", ["gas_prices", "blocks"])
def test_numbers_by_chain_are_whole_and_no_less_than_nothing(field: str, numbers: Any) -> None:
    for make in (lambda **given: Snapshot((), **given), SNAPSHOT.apply):
        with pytest.raises(InvalidMarket, match=f"^{field}: "):
            make(**{field: numbers})


def test_a_market_is_removed_by_its_id_alone() -> None:
    assert SNAPSHOT.apply(removed="ab").markets.keys() == SNAPSHOT.apply(removed=["ab"]).markets.keys() == {"ab2"}


def test_where_units_are_few_the_path_that_rounds_least_is_taken() -> None:
    """By floats three pools give 50.5 units and the one pool 49.97; each pool rounds down."""
    pools = "ab: A B 1000 1000 5bps\nac: A C 1000 1010 0bps\ncd: C D 1000 1000 0bps\ndb: D B 1000 1000 0bps"
    request = RouteRequest(token_in=A, token_out=B, amount=50)
    assert Router(Snapshot(market_of(pools))).find_routes(request).best().amount_out == 49


@pytest.mark.parametrize("markets", [None, 7])
def test_what_is_no_list_of_markets_is_said_to_be_none(markets: Any) -> None:
    for make in (Snapshot, SNAPSHOT.apply):
        with pytest.raises(InvalidMarket, match=r"^markets: must be pools and lanes in a list"):
            make(markets)


def test_an_unknown_option_of_many_requests_is_named_with_the_nearest_one(router: Router) -> None:
    with pytest.raises(InvalidRequest, match="max_split: is no option of RouteRequest; choose from max_splits"):
        router.quote_many(A, B, UNIT, max_split=3)


def test_no_price_impact_at_all_may_be_asked_for(router: Router) -> None:
    result = router.find_routes(replace(REQUEST, max_price_impact_bps=0))
    assert result.status == "price_impact_too_high"
    with pytest.raises(PriceImpactTooHigh, match="and 0 are allowed"):
        result.best()


@pytest.mark.parametrize("taken_at", ["yesterday", "2026-13-01", 5, None])
def test_a_snapshot_is_of_a_moment_or_of_none(taken_at: Any) -> None:
    with pytest.raises(InvalidMarket, match=r"^taken_at: must be an ISO 8601 time such as .*, or empty, not"):
        Snapshot([], taken_at=taken_at)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("taken_at",), "yesterday", "taken_at: must be an ISO 8601 time"),
        (("tokens", 0, 0), 0, r"tokens\.0\.chain_id: must be an int of at least 1"),
        (("markets", 0, "gas"), -5, r"markets\.0\.gas: must be at least 0 gas units, not -5"),
    ],
)
def test_a_damaged_market_file_names_the_field(
    tmp_path: Path, place: tuple[Any, ...], value: object, message: str
) -> None:
    path = tmp_path / "market.json"
    SNAPSHOT.save(path)
    document = node = json.loads(path.read_text())
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    path.write_text(json.dumps(document))
    with pytest.raises(BadMarketFile, match=message):
        Snapshot.load(path)


def test_a_kind_that_is_not_whole_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (lane,) = market_of("lane: A@1 > A@10 10bps 60s")
    monkeypatch.setattr(type(lane), "curve", lambda *_: None)
    with pytest.raises(InvalidMarket, match=r"^markets: lane: `curve` must give a Curve, not None"):
        Router(Snapshot([lane]))
    with pytest.raises(InvalidMarket, match=r"^markets: lone is no whole market; build its kind on BaseMarket"):
        Router(SNAPSHOT.apply([SimpleNamespace(id="lone", protocol="x", kind="x")]))


def test_amounts_in_an_array_are_told_of_how_to_make_them(router: Router) -> None:
    with pytest.raises(InvalidRequest, match=r"token.round_units\(\[0.1, 1.5\]\) makes them"):
        replace(REQUEST, amount=np.array([0.5, 1.0]))


@pytest.mark.parametrize("field", ["id", "protocol"])
@pytest.mark.parametrize("name", [None, "", 7])
def test_a_market_without_a_name_is_refused_when_it_is_made(field: str, name: object) -> None:
    (pool, *_) = market_of("ab: A B 1000 1000 30bps")
    with pytest.raises(InvalidMarket, match=f"{field}: must be a non-empty string, not {name!r}"):
        replace(pool, **{field: name})  # type: ignore[type-var]


def test_a_token_has_one_number_of_decimals_in_a_snapshot() -> None:
    pool, other = market_of("ab: A B 1000 1000 30bps\nab2: A B 1000 1000 30bps")
    assert isinstance(other, ConstantProductPool)
    wrong = replace(other, token0=replace(other.token0, decimals=8))
    message = f"tokens: ab2 gives {A.key} 8 decimals, a market before it 18; give each market the same Token"
    with pytest.raises(InvalidMarket, match=message):
        Snapshot([pool, wrong])
    for before in ([pool], [pool, other]):
        with pytest.raises(InvalidMarket, match=message):
            Snapshot(before).apply([wrong])
    assert Snapshot([pool, other]).apply([replace(other, token0=replace(other.token0, symbol="AA"))])


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (((10, 1, 1),), r"levels.0: must be a Level, not \(10, 1, 1\); Level\(\*row\) makes one"),
        ([Level(10, 1, 1)], "levels: must be a tuple of Levels, not "),
        ((Level(10, 1, 1.0),), "levels.0.price_out: must be an int, not 1.0"),  # type: ignore[arg-type]
    ],
)
def test_levels_are_levels(levels: Any, message: str) -> None:
    with pytest.raises(InvalidMarket, match=message):
        LadderMarket(id="l", protocol="rfq", token_in=A, token_out=B, levels=levels)


def test_a_pool_by_hand_has_positions() -> None:
    with pytest.raises(InvalidMarket, match="positions: are none, so nothing could be traded"):
        ConcentratedPool.from_price(id="p", tokens=(A, B), price=1, positions=[])

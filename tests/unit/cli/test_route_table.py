"""The table of routes that the sandbox does not have."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from routing_engine.certificate import Certificate
from routing_engine.cli.route_table import tables
from routing_engine.model import Fee, Hop
from routing_engine.request import RouteRequest
from routing_engine.result import RouteResult, Status
from routing_engine.route import Route, Side
from tests.support.markets import token

A, B, FAR = token("A"), token("B", 6), token("B@77", 6)
HOP = Hop(
    market_id="pool-one", protocol="p", token_in=A, token_out=B, amount_in=10**18, amount_out=2 * 10**6, gas=100_000
)
LANE = replace(
    HOP,
    market_id="lane",
    token_out=FAR,
    fees=(Fee(amount=10**17, token=A, name="relayer_fee", included=False),),
    fill_time_s=600,
)


def _text(*routes: Route, certificates: tuple[Certificate, ...] = (), show_all: bool = False) -> str:
    first = routes[0]
    request = RouteRequest(token_in=first.token_in, token_out=first.token_out, amount=1, side=first.side)
    result = RouteResult(
        request=request, snapshot_id="s", status=Status.FOUND, routes=routes, certificates=certificates
    )  # fmt: skip
    console = Console(width=80, markup=False)
    with console.capture() as capture:
        for table in tables(result, "1 ms", show_all=show_all):
            console.print(table)
    return capture.get()


def test_parallel_hops_are_numbered_and_summed() -> None:
    other = replace(HOP, market_id="pool-two")
    text = _text(Route(token_in=A, token_out=B, side=Side.EXACT_IN, hops=(HOP, other)))
    assert "1  p" in text
    assert "2  p" in text
    assert "4 B on Ethereum" in text
    assert "1 transaction" in text


def test_a_fee_on_top_and_an_unknown_chain_are_told() -> None:
    text = _text(Route(token_in=A, token_out=FAR, side=Side.EXACT_IN, hops=(LANE,)))
    assert "0.1 A on Ethereum, paid on top" in text
    assert "2 B on chain 77" in text
    assert "10 min" in text


def test_what_an_alternative_costs_more_is_negative_for_both_sides() -> None:
    worse_in = replace(HOP, amount_in=HOP.amount_in * 101 // 100)
    bought = Route(token_in=A, token_out=B, side=Side.EXACT_OUT, hops=(HOP,))
    assert "-100.0 bps" in _text(bought, replace(bought, hops=(worse_in,)))
    worse_out = replace(HOP, amount_out=HOP.amount_out * 99 // 100)
    sold = replace(bought, side=Side.EXACT_IN)
    assert "-100.0 bps" in _text(sold, replace(sold, hops=(worse_out,)))
    assert " 0 bps" in _text(sold, sold)


def test_nothing_is_compared_with_a_worthless_route() -> None:
    route = Route(token_in=A, token_out=B, side=Side.EXACT_IN, hops=(HOP,), gas_cost_out=HOP.amount_out)
    assert " – " in _text(route, route)


def test_long_names_are_cut() -> None:
    long = replace(A, symbol="S" * 40)
    hop = replace(HOP, market_id="m" * 40, token_in=long)
    text = _text(Route(token_in=long, token_out=B, side=Side.EXACT_IN, hops=(hop,)))
    assert "m" * 13 + "…" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_gap_is_shown_with_its_scope_or_with_the_reason_why_there_is_none() -> None:
    route = Route(token_in=A, token_out=B, side=Side.EXACT_IN, hops=(HOP,))
    proven = Certificate(gap_bps=1.234, scope="routes_up_to_4_hops", gas_aware=True)
    shown = " ".join(_text(route, certificates=(proven,)).split())
    assert "gap 1.23 bps at most, against all routes up to 4 hops, gas counted" in shown
    free = Certificate(gap_bps=0.0, scope="all_flows", gas_aware=False)
    assert "gap <0.01 bps at most, against all flows, without gas" in " ".join(
        _text(route, certificates=(free,)).split()
    )
    missing = Certificate.missing("the gas is worth more than the output", 4)
    assert "gap unknown: the gas is worth more than the output" in " ".join(
        _text(route, certificates=(missing,)).split()
    )
    assert "gap not judged" in " ".join(_text(route).split())


def test_each_route_of_a_pareto_set_shows_its_gap() -> None:
    route = Route(token_in=A, token_out=FAR, side=Side.EXACT_IN, hops=(LANE,))
    every = Certificate(gap_bps=0.0, scope="routes_up_to_4_hops", gas_aware=True)
    shown = " ".join(_text(route, route, certificates=(every, every.within(12))).split())
    assert "hops within 12 s" in shown
    assert shown.count("<0.01 bps at most") == 2


def test_the_summary_comes_first_and_the_smallest_of_many_steps_are_folded() -> None:
    hops = tuple(replace(HOP, market_id=f"m{number}", amount_in=HOP.amount_in * (1 + number)) for number in range(30))
    route = Route(token_in=A, token_out=B, side=Side.EXACT_IN, hops=hops)
    text = _text(route)
    assert text.index("you receive") < text.index("Market")
    assert "m9" not in text
    assert [line for line in text.splitlines() if line.startswith("11 ")]
    assert "m29" in text
    assert "… and 10 smaller steps of 30; --all shows them" in text
    every = _text(route, show_all=True)
    assert "m0" in every
    assert "--all" not in every
    assert "--all" not in _text(replace(route, hops=hops[:20]))


def test_a_week_is_called_seven_days() -> None:
    text = _text(Route(token_in=A, token_out=FAR, side=Side.EXACT_IN, hops=(replace(LANE, fill_time_s=604_800),)))
    assert "time          7 days, 1 transaction" in text

"""Routes, results, quotes and snapshots as tables: frames, Arrow, notebooks and terminals."""

from __future__ import annotations

import io
import pickle
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rich.console import Console

from routing_engine import InvalidRequest, Quotes, Route, Router, RouteRequest, RouteResult, Snapshot, Token
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.shown import ROWS
from routing_engine.frames.table import Table


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


@pytest.fixture(scope="module")
def quotes(router: Router) -> Quotes:
    weth = router.snapshot.token("WETH@1")
    return router.quote_many("WETH@1", "USDC@1", weth.round_units([0.1, 30.5, 1e9]), max_price_impact_bps=100)


@pytest.fixture(scope="module")
def result(quotes: Quotes) -> RouteResult:
    return quotes.results[1]


def test_quotes_have_a_row_for_each_request(quotes: Quotes) -> None:
    frame = quotes.to_frame()
    assert list(frame["status"]) == ["found", "found", "price_impact_too_high"]
    assert list(frame["amount_out"]) == list(quotes.amount_out)
    assert all(type(amount) is int for amount in frame["amount_in"]), "exact"
    assert frame["amount_in_whole"].tolist() == [0.1, 30.5, 0.0]
    assert np.isnan(frame["price"].iloc[2])
    assert frame["amount_out"].iloc[2] == 0
    assert frame["price"].iloc[0] == pytest.approx(quotes.amount_out[0] / quotes.amount_in[0] * 1e12)
    assert frame.attrs["units"]["gap_bps"] == "bps"
    assert frame["elapsed_ms"].dtype == np.float64
    assert frame["gas"].dtype == np.int64
    assert frame["gas_priced"].tolist() == [True, True, False]


def test_a_route_has_a_row_for_each_hop(result: RouteResult) -> None:
    route = result.best()
    frame = route.to_frame()
    assert list(frame["market_id"]) == [hop.market_id for hop in route.hops]
    assert sum(frame.loc[frame["token_out"] == "USDC@1", "amount_out"]) == route.amount_out
    shares = frame.groupby("key_in")["share"].sum()
    assert shares.to_numpy() == pytest.approx(1.0)
    assert set(frame.loc[frame["is_bridge"], "chain_id"]) <= {1, 10, 137, 8453, 42161}


def test_a_result_has_a_row_for_each_route(router: Router) -> None:
    request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=10**19, alternatives=2)
    result = router.find_routes(request)
    frame = result.to_frame()
    assert list(frame["amount_out"]) == [route.amount_out for route in result.routes]
    assert len(frame) == 3
    assert result.certificate is not None
    assert frame["gap_bps"].iloc[0] == result.certificate.gap_bps
    assert frame["gap_bps"].iloc[1:].isna().all(), "alternatives are not judged"
    empty = replace(result, routes=(), certificates=())
    assert len(empty.to_frame()) == 0
    assert list(empty.to_frame().columns) == list(frame.columns)


def test_a_snapshot_has_a_row_for_each_direction(router: Router) -> None:
    snapshot = router.snapshot
    frame = snapshot.to_frame()
    assert len(frame) == sum(len(market.edges()) for market in snapshot.markets.values())
    graph = snapshot.to_networkx()
    row = frame[(frame["protocol"] == "uniswap_v2") & (frame["token_in"] == "WETH@1")].iloc[0]
    ends = snapshot.token(row["key_in"]), snapshot.token(row["key_out"])
    edge = graph.edges[(*ends, row["market_id"])]
    assert row["price"] == pytest.approx(np.exp(-edge["weight"]))
    assert row["fee"] == pytest.approx(edge["fee"])
    assert row["gas"] == edge["gas"]
    assert row["min_amount_in"] <= row["max_amount_in"]
    bridges = frame[frame["chain_in"] != frame["chain_out"]]
    assert (bridges["fill_time_s"] > 0).all()


def test_arrow_has_the_same_values(quotes: Quotes, result: RouteResult) -> None:
    for table in (quotes, result, result.best()):
        frame = table.to_frame()
        polars = pl.DataFrame(table)
        assert polars.columns == list(frame.columns)
        assert [int(amount) for amount in polars["amount_out"]] == list(frame["amount_out"])
        assert polars["amount_out"].dtype == pl.Decimal(38, 0)
        assert pa.table(table).schema.field("amount_in").metadata == {b"unit": b"smallest units"}


class Huge(Table):
    """One amount of more digits than Arrow's decimals have."""

    def columns(self) -> tuple[Column, ...]:
        """Return it, and a flag."""
        return Column("amount", Kind.UNITS, [2**255]), Column("flag", Kind.FLAG, [True])


def test_amounts_beyond_decimals_are_text() -> None:
    table = pa.table(Huge())
    assert table.column("amount").to_pylist() == [str(2**255)]
    assert table.column("flag").to_pylist() == [True]
    assert Huge().to_frame()["amount"].iloc[0] == 2**255


def test_a_notebook_shows_the_first_rows_and_no_markup(router: Router, quotes: Quotes) -> None:
    html = router.snapshot._repr_html_()
    assert html.count("<tr>") == ROWS + 1
    assert "more rows" in html
    assert "key_in" not in html
    evil = Token(chain_id=1, address="0x" + "ab" * 20, symbol="<script>", decimals=18)
    hop = quotes.results[0].best().hops[0]
    shown = Route(token_in=evil, token_out=hop.token_out, side="exact_in", hops=(replace(hop, token_in=evil),))
    assert "<script>" not in shown._repr_html_()
    assert "&lt;script&gt;" in shown._repr_html_()


@pytest.mark.parametrize("width", [60, 120, 400])
def test_a_terminal_shows_what_fits(quotes: Quotes, width: int) -> None:
    console = Console(width=width, file=io.StringIO())
    console.print(quotes)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in lines[2], "no column is cut"
    assert ("elapsed_ms" in "".join(lines)) == (width == 400)


def test_without_pandas_it_says_what_to_install(quotes: Quotes, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"pip install pandas.*'quant'"):
        quotes.to_frame()
    with pytest.raises(ImportError, match="pip install pyarrow"):
        quotes.__arrow_c_stream__()


def test_whole_tokens_in_arrays_do_not_overflow(router: Router) -> None:
    weth = router.snapshot.token("WETH@1")
    sizes = np.array([[0.1, 20.0], [1e9, 3.0]])
    units = weth.round_units(sizes)
    assert units.tolist() == [[10**17, 20 * 10**18], [10**27, 3 * 10**18]]
    assert weth.to_whole(units).tolist() == sizes.tolist()
    assert weth.to_whole(2**200) == 2**200 / 10**18
    assert weth.round_units(np.float64(0.1)) == 10**17
    assert weth.round_units(np.array([5, 7])).tolist() == [5 * 10**18, 7 * 10**18]
    assert router.snapshot.token("USDC@1").round_units(1 / 3) == 333333, "rounded down"
    assert weth.to_whole(np.array([10**18], np.uint64)).tolist() == [1.0]


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), True, "1.5", [1.0, -2.0]])
def test_what_is_no_amount_is_refused(router: Router, wrong: float) -> None:
    with pytest.raises(InvalidRequest, match="amount"):
        router.snapshot.token("WETH@1").round_units(wrong)


def test_a_router_travels(router: Router, result: RouteResult) -> None:
    there = pickle.loads(pickle.dumps(router))
    assert there.snapshot == router.snapshot
    assert there.find_routes(result.request).best() == result.best()


def test_a_frame_of_no_rows_has_types(result: RouteResult) -> None:
    types = replace(result, routes=(), certificates=()).to_frame().dtypes
    assert types["price"] == np.float64
    assert types["token_in"] == pd.StringDtype(na_value=np.nan)

"""What analyses, routers and files are wrongly given is named, with the remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routing_engine import BadArchive, BadMarketFile, InvalidRequest, Router, RouteRequest, Snapshot
from routing_engine.analysis.contributions import measure_contributions
from routing_engine.analysis.cycles import find_cycles
from routing_engine.analysis.decay import measure_decay
from routing_engine.analysis.depth import measure_depth
from routing_engine.analysis.gas_sensitivity import measure_gas_sensitivity
from routing_engine.analysis.sweeps import sweep
from routing_engine.archive.archive import Archive
from tests.support.markets import market_of, token

SNAPSHOT = Snapshot(market_of("1_abc: A B 1000 1000 30bps\n1_abd: A B 10 10 30bps"))
REQUEST = RouteRequest(token_in=token("A"), token_out=token("B"), amount=10**18)


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(SNAPSHOT)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["1_abx"], r"no market here has the id '1_abx'; did you mean '1_ab[cd]'\?"),
        (["nobody"], "no market here has the id 'nobody'; snapshot.markets has them by id"),
        ("1_abc", r"must be a collection of market ids, such as \[hop.market_id\], not '1_abc'"),
        (5, "must be a collection of market ids, .*, not 5"),
        ([5], r"must be a collection of market ids, .*, not \[5\]"),
    ],
)
def test_a_market_that_is_not_there_cannot_be_left_out(router: Router, ids: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=f"^without: {message}$"):
        router.find_routes(REQUEST, without=ids)
    assert router.find_routes(REQUEST, without=["1_abc"]).best().hops[0].market_id == "1_abd"


_WRONG: Any = 5
_THREE: Any = 3
_TEXT: Any = "x"
_NONE: Any = None
_NAN: float = float("nan")
Ask = Callable[[Any], object]
WRONG: list[tuple[str, Ask]] = [
    ("levels_bps: must be a list of numbers, such as [10, 100], not 'x'", lambda r: _depth(r, levels_bps="x")),
    ("levels_bps: must be a list of numbers, such as [10, 100], not 5.0", lambda r: _depth(r, levels_bps=5.0)),
    ("levels_bps: must be a list of numbers, such as [10, 100], not [nan]", lambda r: _depth(r, levels_bps=[_NAN])),
    ("router: must be a Router, not Snapshot(", lambda r: _depth(r.snapshot)),
    ("router: must be a Router, not Snapshot(", lambda r: find_cycles(r.snapshot)),
    ("router: must be a Router, not 5; make one: Router(snapshot)", lambda _: measure_contributions(_WRONG, REQUEST)),
    ("snapshots: must be several, not Snapshot(", lambda r: measure_decay(_best(r), r.snapshot)),
    ("snapshots: must be several, not 'x'; give a list: [snapshot]", lambda r: measure_decay(_best(r), _TEXT)),
    ("snapshots: are none; give at least one", lambda r: measure_decay(_best(r), [])),
    ("snapshot: must be a Snapshot, not 5; read one", lambda r: measure_decay(_best(r), [_WRONG])),
    ("route: must be a Route, not 5; a result has one: result.best()", lambda _: measure_decay(_WRONG, [SNAPSHOT])),
    ("max_hops: needs a list of values to try, such as [3], not 3", lambda r: sweep(r, REQUEST, max_hops=_THREE)),
    ("request: must be a RouteRequest, not 5; make one", lambda r: sweep(r, _WRONG, max_hops=[3])),
    ("request: must be a RouteRequest, not 5; make one", lambda r: measure_gas_sensitivity(r, _WRONG)),
    ("prices_gwei: must be a list of numbers", lambda r: measure_gas_sensitivity(r, REQUEST, _WRONG)),
    ("path: must be the path of a file, such as 'market.json.gz', not None", lambda _: Snapshot.load(_NONE)),
    ("path: must be the path of a file", lambda r: r.snapshot.save(5)),
    ("path: must be the path of a file", lambda _: Archive.load(_NONE)),
]


def _depth(router: Any, **options: Any) -> object:
    return measure_depth(router, "A@1", "B@1", **options)


def _best(router: Router) -> Any:
    return router.find_routes(REQUEST).best()


@pytest.mark.parametrize(("message", "ask"), WRONG)
def test_a_wrong_argument_is_named(router: Router, message: str, ask: Ask) -> None:
    with pytest.raises(InvalidRequest) as error:
        ask(router)
    assert str(error.value).startswith(message)


def test_a_missing_folder_is_named(router: Router, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "x.json"
    with pytest.raises(BadMarketFile, match=r"cannot be written; its folder .*missing is missing, so make it$"):
        SNAPSHOT.save(missing)
    with pytest.raises(BadArchive, match="cannot be written"):
        Archive.of(router.find_routes(REQUEST), SNAPSHOT).save(missing)

"""Pictures show what the values say, with units on their axes, and can be told apart without colours."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.patches import PathPatch

from routing_engine import InvalidRequest, Route, Router, RouteRequest, Snapshot
from routing_engine.analysis.decay import measure_decay
from routing_engine.analysis.depth import measure_depth
from routing_engine.pictures.curves import draw_costs, draw_decay, draw_depth, draw_pareto
from routing_engine.pictures.distributions import draw_gaps, draw_growth, draw_times
from routing_engine.pictures.flow import LEAST, draw_route
from routing_engine.pictures.networks import NEAREST, draw_snapshot
from tests.support.markets import market_of, token


@pytest.fixture(scope="module")
def router() -> Router:
    mpl.use("svg")
    return Router(Snapshot.sandbox())


@pytest.fixture(scope="module")
def route(router: Router) -> Route:
    return router.find_routes(
        RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=100 * 10**18, certify=False)
    ).best()


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Leave no figure open."""
    yield
    plt.close("all")


def list_edges(band: PathPatch) -> list[tuple[float, float, float]]:
    """Return where a band is at each column: place, lower and upper edge."""
    points = [(float(x), float(y)) for x, y in np.asarray(band.get_path().vertices)]
    count = len(points) // 2
    return [(*points[place], points[2 * count - 1 - place][1]) for place in range(0, count, 3)]


def test_tokens_of_a_network_are_apart_and_chains_have_places_of_their_own(router: Router) -> None:
    ax = draw_snapshot(router.snapshot)
    chains = [np.asarray(marks.get_offsets()) for marks in ax.collections]
    assert len(chains) == 5
    for places in chains:
        others = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 9 * np.eye(len(places))
        assert others.min() > 0.5 * NEAREST
    centres = np.array([places.mean(axis=0) for places in chains])
    between = np.hypot(*(centres[:, None] - centres[None]).transpose(2, 0, 1)) + 9 * np.eye(5)
    assert between.min() > 1


def test_what_is_not_there_is_no_warning_and_no_riddle() -> None:
    draw_snapshot(Snapshot([]))
    with pytest.raises(InvalidRequest, match="quotes: are none"):
        draw_costs({})


def test_labels_of_time_against_money_do_not_lie_on_each_other(router: Router) -> None:
    request = RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=20 * 10**18)
    ax = draw_pareto(router.find_pareto_set(request))
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) > 4
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    assert all(box.x1 <= ax.figure.bbox.x1 for box in boxes)


def test_bands_do_not_cover_each_other_at_any_column(route: Route) -> None:
    bands = [patch for patch in draw_route(route).patches if isinstance(patch, PathPatch)]
    edges = [edge for band in bands for edge in list_edges(band)]
    assert max(len(list_edges(band)) for band in bands) > 2, "some band has to pass a column"
    for column in {round(place) for place, _, _ in edges}:
        for side in (-1, 1):
            here = sorted((low, high) for place, low, high in edges if 0 <= (place - column) * side < 0.1)
            assert all(before[1] <= after[0] + LEAST for before, after in pairwise(here)), column


def test_a_route_is_a_band_for_each_market(route: Route) -> None:
    ax = draw_route(route)
    bands = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    assert len(bands) == len(route.hops)
    names = {text.get_text() for text in ax.texts}
    assert {str(hop.token_in) for hop in route.hops} | {"USDC@8453"} == names
    legend = ax.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {hop.protocol for hop in route.hops}
    into = [
        list_edges(band)[-1] for band, hop in zip(bands, route.hops, strict=True) if hop.token_out == route.token_out
    ]
    assert sum(high - low for _, low, high in into) == pytest.approx(1.0, abs=0.01 * len(bands)), "all of it arrives"
    first, *_ = {(band.get_facecolor(), band.get_hatch()) for band in bands}
    assert len({band.get_hatch() for band in bands}) > 1, f"hatched, not only coloured as {first}"


def test_names_of_many_tokens_do_not_lie_on_each_other_and_those_without_one_are_counted() -> None:
    through = range(40)
    pools = "\n".join(f"a{n}: A T{n} {100 + 9 * n} {100 + 9 * n} 1bps\nb{n}: T{n} B 5000 5000 1bps" for n in through)
    asked = RouteRequest(token_in=token("A"), token_out=token("B"), amount=2000 * 10**18, certify=False)
    route = Router(Snapshot(market_of(pools))).find_routes(asked).best()
    ax = draw_route(route)
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    (more,) = (text.get_text() for text in ax.texts if text.get_text().startswith("and "))
    named = [text.get_text() for text in ax.texts if text.get_text().startswith("T")]
    assert len(named) > 5
    assert f"T{max(through)}@1" in named, "the one through which most flows"
    tokens = {hop.token_out for hop in route.hops} - {route.token_out}
    assert more == f"and {len(tokens) - len(named)} more"


def test_lines_have_units_and_the_values(router: Router, route: Route) -> None:
    sizes = router.snapshot.token("WETH@1").round_units([1, 10, 100])
    quotes = router.quote_many("WETH@1", "USDC@1", sizes, max_hops=1)
    one = router.quote_many("WETH@1", "USDC@1", sizes, max_hops=1, max_splits=1)
    costs = draw_costs({"all": quotes, "one path": one})
    assert "bps" in costs.get_ylabel()
    assert list(costs.lines[0].get_xdata()) == [1, 10, 100]
    assert min(costs.lines[0].get_ydata()) == pytest.approx(0, abs=1e-9)
    assert (costs.lines[0].get_marker(), costs.lines[0].get_linestyle()) != (
        costs.lines[1].get_marker(),
        costs.lines[1].get_linestyle(),
    )
    depth = measure_depth(router, "WETH@1", "USDC@1", levels_bps=[10, 100], max_hops=1)
    drawn = draw_depth(depth)
    assert list(drawn.lines[0].get_ydata()) == depth.to_frame()["amount_in_whole"].tolist()
    assert "WETH@1" in drawn.get_ylabel()
    later = [router.snapshot, router.snapshot.apply(removed=[route.hops[0].market_id])]
    decay = draw_decay(measure_decay(route, later))
    assert list(decay.lines[2].get_xdata()) == [2], "failed in the second"


def test_time_against_money(router: Router) -> None:
    request = RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=10**18, certify=False)
    result = router.find_pareto_set(request)
    ax = draw_pareto(result)
    assert len(ax.lines[1].get_xdata()) == len(result.routes) > 1
    assert "seconds" in ax.get_xlabel()
    assert "after gas" in ax.get_ylabel()


def test_a_snapshot_shows_its_best_connected_tokens(router: Router) -> None:
    ax = draw_snapshot(router.snapshot, most=25)
    assert sum(len(marks.get_offsets()) for marks in ax.collections) == 25
    assert ax.get_title(loc="left") == "25 of 200 tokens, 1,142 markets"


def test_pictures_are_drawn_on_given_axes_and_are_the_same_again(route: Route) -> None:
    texts = []
    for _ in range(2):
        figure, ax = plt.subplots()
        assert draw_route(replace(route), ax) is ax
        out = StringIO()
        with mpl.rc_context({"svg.hashsalt": "test"}):
            figure.savefig(out, format="svg", metadata={"Date": None})
        texts.append(out.getvalue())
    assert texts[0] == texts[1]


def test_distributions_reach_the_part_that_was_answered() -> None:
    values = {"all": [0.0, 0.5, 40.0, 900.0], "half": [2.0, 1.0], "none": []}
    for draw in (draw_gaps, draw_times):
        ax = draw(values, 4)
        reached = {line.get_label(): [*line.get_ydata(), 0][-2 if len(line.get_ydata()) else 0] for line in ax.lines}
        assert reached == {"all": 100, "half": 50, "none": 0}
        assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 3
        assert ax.get_ylabel() == "requests, %"
        assert "bps" in ax.get_xlabel() or "milliseconds" in ax.get_xlabel()


def test_growth_is_drawn_beside_what_grows_as_the_pools_do() -> None:
    ax = draw_growth({"one": [(100, 1.0), (1_000, 2.0)], "other": [(100, 3.0)]}, "ms")
    *_, proportional = ax.lines
    assert list(proportional.get_ydata()) == [1.0, 10.0]
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "log", "ms")
    assert draw_growth({}, "ms").get_legend() is None


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "routing_engine.pictures")
    with pytest.raises(ModuleNotFoundError, match="pip install matplotlib, or install the extra 'quant'"):
        importlib.import_module("routing_engine.pictures")

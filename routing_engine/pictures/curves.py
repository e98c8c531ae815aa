"""What sizes cost, how deep a pair is, what time is worth, how routes decay and strategies fare: lines over an axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

from routing_engine.amounts import write_duration
from routing_engine.analysis.decay import Decay
from routing_engine.analysis.depth import Depth
from routing_engine.backtest.backtest import Backtest
from routing_engine.backtest.trades import TradeStatus
from routing_engine.batch.quotes import Quotes
from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.pictures.style import COLOURS, INK, LINES, MARKERS, show_plainly, use_style
from routing_engine.result import RouteResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ROOM = 1.3
"""Above the highest point."""

FAILED: Any = {
    "color": COLOURS[5], "marker": "X", "markersize": 9, "linestyle": "", "markeredgecolor": INK,
    "markeredgewidth": 0.8,
}  # fmt: skip
"""A failure: its rim tells it from what is beneath it without colours too."""

LABEL_WIDTH, LABEL_HEIGHT = 0.18, 0.07
"""Room for a label, as parts of the axes."""


def draw_costs(quotes: Mapping[str, Quotes], ax: Axes | None = None) -> Axes:
    """Draw what sizes cost, for several options: the net price below the best of all, in bps.

    Parameters
    ----------
    quotes : mapping of str to Quotes
        By the name that the legend shows; each of one pair, sold in rising amounts. What wasn't found is left out.
    ax : matplotlib axes, optional
        New ones without.

    Raises
    ------
    InvalidRequest
        If there are none.
    """
    if not any(len(each.results) for each in quotes.values()):
        raise InvalidRequest("quotes", "are none; give those of one pair at least, by the name that the legend shows")
    found = {name: _list_prices(each) for name, each in quotes.items()}
    best = max((price for points in found.values() for _, price in points), default=math.nan)
    token = next(result.request.token_in for each in quotes.values() for result in each.results)
    marks = zip(cycle(COLOURS), cycle(MARKERS), cycle(LINES), strict=False)
    with use_style(ax) as ax:
        for (name, points), (colour, marker, line) in zip(found.items(), marks, strict=False):
            sizes, costs = [size for size, _ in points], [(1 - price / best) * BPS for _, price in points]
            ax.plot(sizes, costs, color=colour, marker=marker, linestyle=line, label=name)
        ax.set(xscale="log", xlabel=f"amount sold, {token}", ylabel="cost against the best price, bps, gas included")
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(0, ax.get_ylim()[1] * ROOM)
        show_plainly(ax)
        ax.set_title("What sizes cost")
        ax.legend()
    return ax


def _list_prices(quotes: Quotes) -> list[tuple[float, float]]:
    """Return sizes in whole tokens, and net prices in whole tokens out per whole token in."""
    points = []
    for result in quotes.results:
        if result.routes:
            route = result.routes[0]
            size = route.token_in.to_whole(route.amount_in)
            points.append((size, route.token_out.to_whole(route.amount_out_net) / size))
    return points


def draw_depth(depth: Depth, ax: Axes | None = None) -> Axes:
    """Draw how much of a pair can be traded within each loss to its own size."""
    with use_style(ax) as ax:
        levels, sizes = zip(
            *[(level, depth.token_in.to_whole(route.amount_in)) for level, route in depth.levels], strict=True
        )
        ax.plot(levels, sizes, color=COLOURS[0], marker=MARKERS[0])
        ax.set(xscale="log", yscale="log", xlabel="loss to the amount's own size, bps")
        ax.set_ylabel(f"largest amount, {depth.token_in}")
        show_plainly(ax)
        ax.set_title(f"Depth of {depth.token_in} to {depth.token_out}; {depth.best_price:,.6g} at best")
    return ax


def draw_pareto(result: RouteResult, ax: Axes | None = None) -> Axes:
    """Draw routes by time and net amount: what each minute of waiting brings; for `Router.find_pareto_set`."""
    request = result.request
    token = request.token_out if request.side == "exact_in" else request.token_in
    points = sorted((max(route.fill_time_s, 1), token.to_whole(route.net_amount)) for route in result.routes)
    with use_style(ax) as ax:
        times, amounts = zip(*points, strict=True) if points else ((), ())
        ax.step(times, amounts, where="post", color=COLOURS[0], linestyle="--")
        ax.plot(times, amounts, color=COLOURS[0], marker=MARKERS[0], linestyle="")
        for point, place in _list_labels(points):
            ax.annotate(write_duration(point[0]), point, textcoords="offset points", fontsize=8, **place)
        received = "received after gas" if request.side == "exact_in" else "paid with gas"
        ax.set(xscale="log", xlabel="time until the last part arrives, seconds", ylabel=f"{token} {received}")
        ax.margins(x=0.15, y=0.1)
        show_plainly(ax)
        ax.set_title(f"Time against money: {request.token_in} to {request.token_out}")
    return ax


def _list_labels(points: Sequence[tuple[int, float]]) -> Iterator[tuple[tuple[int, float], Any]]:
    """Yield points and where their labels go; of those near each other the first and the last only, to both sides."""
    heights = [amount for _, amount in points]
    width, height = math.log(points[-1][0] / points[0][0]) if points else 0.0, max(heights, default=0.0)
    height -= min(heights, default=0.0)
    near = [
        math.log(later / time) < LABEL_WIDTH * width and abs(more - amount) < LABEL_HEIGHT * height
        for (time, amount), (later, more) in pairwise(points)
    ]
    for point, is_near_last, is_near_next in zip(points, [False, *near], [*near, False], strict=False):
        if not is_near_next:
            yield point, {"xytext": (6, -4), "va": "top"}
        elif not is_near_last:
            yield point, {"xytext": (-6, 4), "va": "bottom", "ha": "right"}


def draw_decay(decay: Decay, ax: Axes | None = None) -> Axes:
    """Draw what a route gives block after block; a cross where it fails."""
    steps = range(1, len(decay.fills) + 1)
    with use_style(ax) as ax:
        ax.axhline(0.0, color=INK, linewidth=0.8)
        ax.plot(steps, decay.changes_bps, color=COLOURS[0], marker=MARKERS[0])
        failed = [step for step, fill in zip(steps, decay.fills, strict=True) if fill.refusal]
        if failed:
            at_the_bottom = ax.get_xaxis_transform()
            ax.plot(failed, [0.05] * len(failed), **FAILED, label="failed: nothing arrives", transform=at_the_bottom)
            ax.margins(y=0.15)
            ax.legend()
        ax.set(xlabel="snapshots after the route was found", ylabel="output against the plan, bps")
        ax.set_title(f"Decay of a route from {decay.route.token_in} to {decay.route.token_out}")
    return ax


def draw_equity(done: Backtest, ax: Axes | None = None) -> Axes:
    """Draw what a strategy's portfolio was worth block after block, with a mark for each fill and each failure."""
    equity = done.equity
    values = dict(zip(equity.blocks, equity.values, strict=True))
    filled = {"color": COLOURS[2], "marker": MARKERS[0], "linestyle": ""}
    with use_style(ax) as ax:
        ax.plot(equity.blocks, equity.values, color=COLOURS[0])
        for status, look in ((TradeStatus.FILLED, filled), (TradeStatus.FAILED, FAILED)):
            blocks = [trade.filled_block for trade in done.trades if trade.status is status]
            ax.plot(blocks, [values[block] for block in blocks], label=status, **look)
        ax.set(xlabel="block", ylabel=f"value, {equity.token}")
        show_plainly(ax)
        ax.set_title(f"{len(done.trades)} trades on {len(equity.blocks):,} blocks")
        ax.legend()
    return ax

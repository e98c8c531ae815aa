"""What sizes cost, how deep a pair is, what time is worth, how routes decay and strategies fare: lines over an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from routing_engine.amounts import write_duration
from routing_engine.analysis.decay import Decay
from routing_engine.analysis.depth import Depth
from routing_engine.backtest.backtest import Backtest
from routing_engine.backtest.trades import TradeStatus
from routing_engine.batch.quotes import Quotes
from routing_engine.fixed_point import BPS
from routing_engine.pictures.style import COLOURS, INK, LINES, MARKERS, show_plainly, use_style
from routing_engine.result import RouteResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ROOM = 1.3
"""Above the highest point."""


def draw_costs(quotes: Mapping[str, Quotes], ax: Axes | None = None) -> Axes:
    """Draw what sizes cost, for several options: the net price below the best of all, in bps.

    Parameters
    ----------
    quotes : mapping of str to Quotes
        By the name that the legend shows; each of one pair, sold in rising amounts. What wasn't found is left out.
    ax : matplotlib axes, optional
        New ones without.
    """
    found = {name: _list_prices(each) for name, each in quotes.items()}
    best = max((price for points in found.values() for _, price in points), default=math.nan)
    token = next(iter(quotes.values())).results[0].request.token_in
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
        for time, amount in points:
            ax.annotate(write_duration(time), (time, amount), (6, -4), textcoords="offset points", va="top", fontsize=8)
        received = "received after gas" if request.side == "exact_in" else "paid with gas"
        ax.set(xscale="log", xlabel="time until the last part arrives, seconds", ylabel=f"{token} {received}")
        ax.margins(x=0.12, y=0.1)
        show_plainly(ax)
        ax.set_title(f"Time against money: {request.token_in} to {request.token_out}")
    return ax


def draw_decay(decay: Decay, ax: Axes | None = None) -> Axes:
    """Draw what a route gives block after block; a cross where it fails."""
    steps = range(1, len(decay.fills) + 1)
    with use_style(ax) as ax:
        ax.axhline(0.0, color=INK, linewidth=0.8)
        ax.plot(steps, decay.changes_bps, color=COLOURS[0], marker=MARKERS[0])
        failed = [step for step, fill in zip(steps, decay.fills, strict=True) if fill.refusal]
        ax.plot(failed, [0.0] * len(failed), color=COLOURS[5], marker="X", markersize=9, linestyle="", label="failed")
        if failed:
            ax.legend()
        ax.set(xlabel="snapshots after the route was found", ylabel="output against the plan, bps")
        ax.set_title(f"Decay of a route from {decay.route.token_in} to {decay.route.token_out}")
    return ax


def draw_equity(done: Backtest, ax: Axes | None = None) -> Axes:
    """Draw what a strategy's portfolio was worth block after block, with a mark for each fill and each failure."""
    equity = done.equity
    values = dict(zip(equity.blocks, equity.values, strict=True))
    marks = ((TradeStatus.FILLED, MARKERS[0], COLOURS[2]), (TradeStatus.FAILED, "X", COLOURS[5]))
    with use_style(ax) as ax:
        ax.plot(equity.blocks, equity.values, color=COLOURS[0])
        for status, marker, colour in marks:
            blocks = [trade.filled_block for trade in done.trades if trade.status is status]
            ax.plot(
                blocks, [values[block] for block in blocks], color=colour, marker=marker, linestyle="", label=status
            )
        ax.set(xlabel="block", ylabel=f"value, {equity.token}")
        show_plainly(ax)
        ax.set_title(f"{len(done.trades)} trades on {len(equity.blocks):,} blocks")
        ax.legend()
    return ax

"""Buying what selling gave, on recorded markets: from dust to far beyond depth, and for real orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from benchmarks import recorded
from benchmarks.measure import bps, percentile
from benchmarks.parts import Entries, Setting
from benchmarks.parts.asked import Asked, ask
from benchmarks.parts.report import Row, Table, at_most, share
from routing_engine import Router, RouteRequest
from routing_engine.request import MAX_HOPS

GAS_PRICE, LOW_GAS_PRICE = 10 * 10**9, 134 * 10**6
FACTORS = (0.01, 0.1, 1, 3, 10, 30)
"""Sizes, as multiples of the scenarios' own."""

FAR_FACTORS = (1_000, 10_000)
"""The same far beyond depth, where a single answer takes up to a minute."""

WIDER = {
    "40 splits": {"max_splits": 40},
    "60 splits": {"max_splits": 60},
    "default": {},
}
LONGER = {f"{hops} hops": {"max_hops": hops} for hops in range(3, MAX_HOPS + 1)}
"""Options of which each has more to choose from than the one before it, so none may pay more."""

EVERY = 10
"""In a quick run, every so many-th request is asked with all of these too, and at the other sizes and gas price."""

LIMIT_BPS = 0.1
ROUNDING_BPS = 1e-4
"""By so much two divisions of one flow may differ in their last units."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """An amount sold, and what that gave bought."""

    name: str
    there: Asked
    back: Asked

    @property
    def above(self) -> float:
        """By how many bps input and gas are above those of exact-in; infinite where nothing was found."""
        if not self.back.result.routes:
            return float("inf")
        sold = self.there.result.best()
        return bps(self.back.result.best().amount_in_gross, sold.amount_in_gross)

    @property
    def input_above(self) -> float:
        """The same of the input alone."""
        if not self.back.result.routes:
            return float("inf")
        return bps(self.back.result.best().amount_in, self.there.result.best().amount_in)


def run(setting: Setting) -> Entries:
    """Ask both sides, then some again with more to choose from."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    groups: dict[str, list[RoundTrip]] = {}
    grown: dict[str, list[float]] = {}
    for recording in (*recorded.RECORDINGS, recorded.AUCTION):
        router = Router(recorded.market(setting.shared_data, recording))
        for group, requests in _requests(setting, recording, router).items():
            trips = [trip for trip in _round_trips(setting, group, router, requests) if trip]
            groups[group] = trips
            for name, options in (("splits", WIDER), ("hops", LONGER)):
                asked = [] if _is_far(group) else trips if setting.full else trips[::EVERY]
                grown.setdefault(name, []).extend(
                    _loss(router, trip.back.request, tuple(options.values())) for trip in asked
                )
    yield from _targets([trip for trips in groups.values() for trip in trips])
    for name, losses in grown.items():
        worst = max(losses, default=0.0)
        yield at_most(f"paid more with more {name}, at most, of {len(losses)}", worst, ROUNDING_BPS, "bps")
    yield _table(groups)
    yield _worst(groups)


def _requests(setting: Setting, recording: str, router: Router) -> dict[str, dict[str, RouteRequest]]:
    """Return exact-in requests by group and name."""
    if recording == recorded.AUCTION:
        orders, _ = recorded.orders(setting.shared_data, router.snapshot, GAS_PRICE)
        sales = {f"order {n}": _sell(order) for n, order in enumerate(orders)}
        return {f"{recording}, all orders": sales}
    found = {}
    for gas_price in (GAS_PRICE, LOW_GAS_PRICE):
        scenarios, _ = recorded.golden(setting.shared_data, router.snapshot, gas_price)
        for factor in (*FACTORS, *FAR_FACTORS):
            is_usual = gas_price == GAS_PRICE and factor in FACTORS
            asked = scenarios if setting.full or is_usual else scenarios[::EVERY]
            name = f"{recording}, {gas_price / 1e9:g} gwei, scenarios × {factor:,g}"
            found[name] = {each.name: _scale(each.request, factor) for each in asked}
    return found


def _is_far(group: str) -> bool:
    return group.endswith(tuple(f"× {factor:,g}" for factor in FAR_FACTORS))


def _scale(request: RouteRequest, factor: float) -> RouteRequest:
    return replace(request, amount=max(1, int(request.amount * factor)))


def _sell(order: recorded.Order) -> RouteRequest:
    if order.request.side == "exact_in":
        return order.request
    return replace(order.request, side="exact_in", amount=order.limit)


def _round_trips(
    setting: Setting, group: str, router: Router, requests: dict[str, RouteRequest]
) -> Iterator[RoundTrip | None]:
    for number, (name, request) in enumerate(requests.items()):
        if number % 10 == 0:
            setting.note(f"{group}, {number} of {len(requests)}")
        there = ask(router, request)
        if there.result.routes:
            bought = there.result.best().amount_out
            yield RoundTrip(name, there, ask(router, replace(request, side="exact_out", amount=bought)))


def _loss(router: Router, request: RouteRequest, steps: Sequence[dict[str, int]]) -> float:
    """Return by how many bps an answer is at most worse than one that had less to choose from."""
    paid = []
    for options in steps:
        result = router.find_routes(replace(request, **options))  # type: ignore[arg-type]
        paid.append(float(result.best().amount_in_gross) if result.routes else float("inf"))
    return max([bps(after, before) for before, after in pairwise(paid) if before < after], default=0)


def _targets(trips: list[RoundTrip]) -> Entries:
    finite = [trip.above for trip in trips if trip.back.result.routes]
    yield Row(what="amounts sold and bought back", target="", measured=f"{len(trips):,}", value=len(trips))
    yield share("exact-out found where exact-in was", [bool(trip.back.result.routes) for trip in trips], 1)
    yield at_most("input and gas above exact-in's, p95", percentile(finite, 95), LIMIT_BPS, "bps")
    yield at_most("input and gas above exact-in's, max", max(finite, default=0.0), LIMIT_BPS, "bps")
    yield share(f"input and gas at most {LIMIT_BPS} bps above", [trip.above <= LIMIT_BPS for trip in trips], 1)
    for clock in ("wall", "cpu"):
        ratios = [getattr(trip.back, f"{clock}_ms") / getattr(trip.there, f"{clock}_ms") for trip in trips]
        total = [sum(getattr(each, f"{clock}_ms") for each in side) for side in zip(*map(_sides, trips), strict=True)]
        yield at_most(f"{clock} time of the first call, times exact-in's, median", percentile(ratios, 50), 2, "×")
        yield at_most(f"{clock} time of the first call, times exact-in's, p95", percentile(ratios, 95), 2, "×")
        yield at_most(f"{clock} time of all, times exact-in's", total[1] / total[0], 2, "×")


def _sides(trip: RoundTrip) -> tuple[Asked, Asked]:
    return trip.there, trip.back


def _table(groups: dict[str, list[RoundTrip]]) -> Table:
    rows = []
    for group, trips in groups.items():
        found = [trip for trip in trips if trip.back.result.routes]
        above, alone = [trip.above for trip in found], [trip.input_above for trip in found]
        wall = [trip.back.wall_ms / trip.there.wall_ms for trip in trips]
        rows.append(
            (
                group, str(len(trips)), str(len(trips) - len(found)),
                *(f"{percentile(above, rank):.3g}" for rank in (50, 95, 100)),
                *(f"{percentile(alone, rank):.3g}" for rank in (95, 100)),
                *(f"{percentile([trip.there.wall_ms for trip in trips], rank):.2f}" for rank in (50, 95)),
                *(f"{percentile([trip.back.wall_ms for trip in trips], rank):.2f}" for rank in (50, 95)),
                *(f"{percentile([trip.back.cpu_ms for trip in trips], rank):.2f}" for rank in (50, 95)),
                *(f"{percentile(wall, rank):.2f}" for rank in (50, 95)),
            )
        )  # fmt: skip
    return Table(
        title="Exact-out of what exact-in gave: input and gas above exact-in's, bps, then input alone",
        columns=(
            "market and amounts", "asked", "not found", "p50", "p95", "max", "input p95", "max", "in: wall ms p50",
            "p95", "out: wall ms p50", "p95", "out: cpu ms p50", "p95", "wall ratio p50", "p95",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _worst(groups: dict[str, list[RoundTrip]]) -> Table:
    """Return the dozen that pay most above exact-in, those that were not found first."""
    all_trips = [(group, trip) for group, trips in groups.items() for trip in trips]
    worst = sorted(all_trips, key=lambda each: -each[1].above)[:12]
    return Table(
        title="The worst of them",
        columns=("what", "bps above", "in: pools", "out: pools", "out: ms", "status"),
        rows=tuple(
            (
                f"{group}: {trip.name}", f"{trip.above:.4g}", str(len(trip.there.result.best().hops)),
                str(len(trip.back.result.best().hops)) if trip.back.result.routes else "", f"{trip.back.wall_ms:.1f}",
                str(trip.back.result.status),
            )
            for group, trip in worst
        ),
    )  # fmt: skip

"""What a route is worth later: block after block, and which slippage tolerance would have sufficed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from routing_engine.analysis.arguments import read_snapshots, require_route
from routing_engine.analysis.fills import Fill, fill_route
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_amounts
from routing_engine.route import Route
from routing_engine.snapshot.snapshot import Snapshot
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Decay(Table):
    """A route's fills on later snapshots; as a table, a row for each.

    Parameters
    ----------
    route : Route
        As it was found.
    blocks : tuple of int
        Block of the chain on which the route begins; 0 where a snapshot doesn't say.
    fills : tuple of Fill
        In the order of the snapshots.
    """

    route: Route
    blocks: tuple[int, ...]
    fills: tuple[Fill, ...]

    @property
    def changes_bps(self) -> tuple[float, ...]:
        """By how much more than planned each fill gives; NaN where it failed."""
        planned = self.route.amount_out
        return tuple(math.nan if fill.refusal else (fill.amount_out / planned - 1) * BPS for fill in self.fills)

    def slippage_bps(self, steps: int | None = None) -> float:
        """Return the tolerance with which the route would have gone through on each of the first snapshots.

        0 where it never gave less than planned; infinite where it failed.

        Parameters
        ----------
        steps : int, optional
            How many snapshots count; all by default.
        """
        changes = self.changes_bps[:steps]
        return math.inf if any(map(math.isnan, changes)) else max([0.0, *(-change for change in changes)])

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each snapshot; see `Table`."""
        amounts = [fill.amount_out for fill in self.fills]
        return (
            Column("step", Kind.COUNT, list(range(1, len(self.fills) + 1))),
            Column("block", Kind.COUNT, self.blocks),
            *describe_amounts("amount_out", amounts, [self.route.token_out] * len(amounts)),
            Column("change_bps", Kind.NUMBER, self.changes_bps, unit="bps"),
            Column("refusal", Kind.TEXT, [str(fill.refusal) for fill in self.fills]),
        )

    def __repr__(self) -> str:
        failed = sum(bool(fill.refusal) for fill in self.fills)
        return f"Decay({len(self.fills)} snapshots, {failed} failed; slippage {self.slippage_bps():,.2f} bps)"


def measure_decay(route: Route, snapshots: Iterable[Snapshot]) -> Decay:
    """Execute a route on each of some later snapshots, as if it had been sent there.

    Raises
    ------
    InvalidRequest
        If there is no snapshot, or the route is none.

    Examples
    --------
    >>> from routing_engine import Router, RouteRequest, Snapshot
    >>> snapshot = Snapshot.sandbox()
    >>> request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=10**18, max_hops=1)
    >>> measure_decay(Router(snapshot).find_routes(request).best(), [snapshot])
    Decay(1 snapshots, 0 failed; slippage 0.00 bps)
    """
    require_route(route)
    later = read_snapshots(snapshots)
    blocks = tuple(snapshot.blocks.get(route.token_in.chain_id, 0) for snapshot in later)
    return Decay(route, blocks, tuple(fill_route(route, snapshot) for snapshot in later))

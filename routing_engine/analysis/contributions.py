"""What each protocol, market or chain adds to an answer: the answer without it, beside the answer with all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from routing_engine.analysis.arguments import require_router
from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_amounts
from routing_engine.request import RouteRequest
from routing_engine.result import RouteResult
from routing_engine.route import Side
from routing_engine.router import Router
from routing_engine.values import seal

Part = Literal["protocol", "market", "chain"]
Progress = Callable[[int, int], None]
"""Told how many answers are there, and how many there will be."""


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Contributions(Table):
    """Answers without one part each, the most missed first; as a table, a row for each part.

    Parameters
    ----------
    part : {"protocol", "market", "chain"}
        What is left out.
    whole : RouteResult
        The answer with all.
    without : tuple of (str, RouteResult)
        What was left out, and the answer then. Parts that the best route doesn't use are missing: without them it is
        still there.
    """

    part: Part
    whole: RouteResult
    without: tuple[tuple[str, RouteResult], ...]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each part; see `Table`."""
        request = self.whole.request
        token = request.token_out if request.side == Side.EXACT_IN else request.token_in
        amounts = [result.routes[0].net_amount if result.routes else 0 for _, result in self.without]
        return (
            Column(self.part, Kind.TEXT, [name for name, _ in self.without]),
            Column("loss_bps", Kind.NUMBER, [_find_loss(self.whole, result) for _, result in self.without], unit="bps"),
            *describe_amounts("net_amount", amounts, [token] * len(amounts)),
            Column("status", Kind.TEXT, [str(result.status) for _, result in self.without]),
        )

    def __repr__(self) -> str:
        return f"Contributions({len(self.without)} of a kind: {self.part}; {self.whole!r})"


def measure_contributions(
    router: Router, request: RouteRequest, part: Part = "protocol", *, progress: Progress | None = None
) -> Contributions:
    """Leave out each part that the best route uses, and ask again.

    Parameters
    ----------
    router : Router
        With all markets.
    request : RouteRequest
        The question. Searches that differ by less than their gap may be told apart wrongly.
    part : {"protocol", "market", "chain"}
        What to leave out. Chains of the request's own tokens stay.
    progress : callable, optional
        Called with the number of answers, and of all.

    Raises
    ------
    InvalidRequest
        If the part is none of these, or the request doesn't fit the snapshot.
    NoRoute, InsufficientLiquidity, PriceImpactTooHigh
        If there is no answer with all.

    Examples
    --------
    >>> from routing_engine import Router, RouteRequest, Snapshot
    >>> request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=10**20, max_hops=2)
    >>> contributions = measure_contributions(Router(Snapshot.sandbox()), request)
    >>> [name for name, _ in contributions.without]
    ['uniswap_v3', 'pancakeswap_v3', 'uniswap_v4', 'wrap']
    """
    require_router(router)
    if part not in get_args(Part):
        raise InvalidRequest("part", f"must be one of {', '.join(get_args(Part))}, not {part!r}")
    whole = router.find_routes(request)
    names = sorted(_list_parts(whole, part))
    found = []
    for done, name in enumerate(names, 1):
        found.append((name, _ask_without(router, whole.request, part, name)))
        if progress:
            progress(done, len(names))
    found.sort(key=lambda entry: -_find_loss(whole, entry[1]))
    return Contributions(part, whole, tuple(found))


def _list_parts(whole: RouteResult, part: Part) -> set[str]:
    """Return what the best route uses."""
    hops = whole.best().hops
    if part == "chain":
        return _list_chains(whole)
    return {hop.protocol if part == "protocol" else hop.market_id for hop in hops}


def _list_chains(whole: RouteResult) -> set[str]:
    own = {whole.request.token_in.chain_id, whole.request.token_out.chain_id}
    ends = {token.chain_id for hop in whole.best().hops for token in (hop.token_in, hop.token_out)}
    return {str(chain_id) for chain_id in ends - own}


def _ask_without(router: Router, request: RouteRequest, part: Part, name: str) -> RouteResult:
    """Ask on the same arrays: to compile the graph anew for each part would take far longer than to search it."""
    if part == "protocol":
        return router.find_routes(replace(request, deny_protocols=request.deny_protocols | {name}))
    if part == "market":
        return router.find_routes(request, without=[name])
    markets = router.snapshot.markets.items()
    gone = [key for key, each in markets if any(token.chain_id == int(name) for token in each.tokens)]
    return router.find_routes(request, without=gone)


def _find_loss(whole: RouteResult, without: RouteResult) -> float:
    """Return by how many bps an answer is worse, of what it was with all; infinite where there is none."""
    if not without.routes:
        return math.inf
    before, after = whole.best().net_amount, without.best().net_amount
    lost = before - after if whole.request.side == Side.EXACT_IN else after - before
    return lost / abs(before) * BPS if before else math.nan

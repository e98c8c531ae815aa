"""Loops of markets that give back more than they take: which there are, how much pays, and what is left after gas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from routing_engine.analysis.arguments import require_router
from routing_engine.analysis.best_amount import find_best_amount
from routing_engine.analysis.loop_search import Loop, find_loops, list_directions
from routing_engine.errors import InvalidRequest, QuoteRefused, Refusal
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_amounts
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.market import UNLIMITED
from routing_engine.model import Hop, Token
from routing_engine.paths import Path
from routing_engine.route import Side
from routing_engine.router import Router
from routing_engine.values import seal

Progress = Callable[[int, int], None]
"""Told how many loops are judged, and how many there are."""

MAX_HOPS, MAX_LOOPS = 6, 100_000


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """A loop of markets.

    Parameters
    ----------
    tokens : tuple of Token
        In order; the last leads back to the first.
    protocols, market_ids : tuple of str
        From each token to the next.
    spot_gain_bps : float
        What a vanishing amount gains, fees included.
    path : Path or None
        The amount that gains most, replayed in exact integers; None where every gain is rounded away, or a market on
        the way holds less than the least amounts that the others take.
    gas_cost : int
        The path's gas in smallest units of `token`, rounded up; an estimate.
    is_gas_priced : bool
        Whether gas prices and reference prices were known.
    """

    tokens: tuple[Token, ...]
    protocols: tuple[str, ...]
    market_ids: tuple[str, ...]
    spot_gain_bps: float
    path: Path | None
    gas_cost: int = 0
    is_gas_priced: bool = False

    @property
    def token(self) -> Token:
        """Where it begins and ends."""
        return self.tokens[0]

    @property
    def loop(self) -> str:
        """Symbols in order, such as ``WETH → USDC → WETH``."""
        return " → ".join(token.symbol for token in (*self.tokens, self.token))

    @property
    def profit(self) -> int:
        """Smallest units that its best amount gains before gas; 0 where there is none."""
        return self.path.amount_out - self.path.amount_in if self.path else 0

    @property
    def profit_net(self) -> int:
        """The same after gas, at the snapshot's gas prices; negative where gas eats more than the loop gives."""
        return self.profit - self.gas_cost

    @property
    def pays(self) -> bool:
        """Whether something is left after gas, and what gas costs is known."""
        return self.profit_net > 0 and self.is_gas_priced

    def __repr__(self) -> str:
        gain = f"{self.spot_gain_bps:,.1f} bps by spot prices"
        if self.path is None:
            return f"Cycle({self.token}: {gain}; no amount gains a unit)"
        shown = f"{self.token.show(self.path.amount_in)} gain {self.token.show(self.profit)}"
        return f"Cycle({shown}, {self.token.show(self.profit_net)} after gas; {gain})"


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Cycles(Table):
    """Loops of a snapshot, the most profitable after gas first; as a table, a row for each.

    That none pays after gas is an answer too: `paying` is empty then.
    """

    cycles: tuple[Cycle, ...]

    @property
    def paying(self) -> tuple[Cycle, ...]:
        """Those that leave something after gas, of those whose gas is priced."""
        return tuple(cycle for cycle in self.cycles if cycle.pays)

    def __len__(self) -> int:
        return len(self.cycles)

    def __iter__(self) -> Iterator[Cycle]:
        return iter(self.cycles)

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each loop; see `Table`."""
        tokens = [cycle.token for cycle in self.cycles]
        amounts = [cycle.path.amount_in if cycle.path else 0 for cycle in self.cycles]
        return (
            Column("token", Kind.TEXT, [str(token) for token in tokens]),
            Column("key", Kind.TEXT, [token.key for token in tokens], is_detail=True),
            Column("loop", Kind.TEXT, [cycle.loop for cycle in self.cycles]),
            Column("protocols", Kind.TEXT, [" ".join(cycle.protocols) for cycle in self.cycles], is_detail=True),
            Column("market_ids", Kind.TEXT, [" ".join(each.market_ids) for each in self.cycles], is_detail=True),
            Column("spot_gain_bps", Kind.NUMBER, [cycle.spot_gain_bps for cycle in self.cycles], unit="bps"),
            *describe_amounts("amount_in", amounts, tokens),
            *describe_amounts("profit", [cycle.profit for cycle in self.cycles], tokens),
            *describe_amounts("profit_net", [cycle.profit_net for cycle in self.cycles], tokens),
            *describe_amounts("gas_cost", [cycle.gas_cost for cycle in self.cycles], tokens),
            Column("gas_priced", Kind.FLAG, [cycle.is_gas_priced for cycle in self.cycles], is_detail=True),
            Column("pays", Kind.FLAG, [cycle.pays for cycle in self.cycles]),
        )

    def __repr__(self) -> str:
        unknown = sum(not cycle.is_gas_priced for cycle in self.cycles if cycle.path)
        doubt = f"; of {unknown} what gas costs is unknown" if unknown else ""
        return f"Cycles({len(self.cycles)} loops by spot prices, {len(self.paying)} pay after gas{doubt})"


def find_cycles(
    router: Router,
    *,
    max_hops: int = 3,
    max_loops: int = 1_000,
    is_bridge_allowed: bool = False,
    progress: Progress | None = None,
) -> Cycles:
    """Find loops that gain by spot prices, and for each the amount that gains most, exactly.

    Parameters
    ----------
    router : Router
        On the snapshot.
    max_hops : int
        Markets in a loop, 2 to 6; each further one multiplies the loops.
    max_loops : int
        So many are judged: those with the largest gain by spot prices. 1 to 100,000.
    is_bridge_allowed : bool
        Whether loops may cross chains; what waiting risks isn't counted.
    progress : callable, optional
        Called with the number of judged loops, and of all.

    Returns
    -------
    Cycles
        Each loop alone: two that share a market can't both be had.

    Raises
    ------
    InvalidRequest
        If a bound is outside its range; it names the field.

    Examples
    --------
    >>> from routing_engine import Router, Snapshot
    >>> find_cycles(Router(Snapshot.sandbox()), max_hops=2)
    Cycles(0 loops by spot prices, 0 pay after gas)
    """
    require_router(router)
    for field, value, low, high in (("max_hops", max_hops, 2, MAX_HOPS), ("max_loops", max_loops, 1, MAX_LOOPS)):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InvalidRequest(field, f"must be an int from {low} to {high:,}, not {value!r}")
    directions = list_directions(router.snapshot.markets.values(), is_bridge_allowed=is_bridge_allowed)
    loops = find_loops(directions, max_hops, max_loops)
    valuation = Valuation(router.graph, router.snapshot.gas_prices)
    found = []
    for done, (gain, loop) in enumerate(loops, 1):
        found.append(_judge(loop, gain, valuation))
        if progress:
            progress(done, len(loops))
    prices = {cycle.token: float(router.graph.prices[router.graph.index[cycle.token]]) for cycle in found}
    best_first = sorted(
        found, key=lambda each: (each.path is None, -each.profit_net * prices[each.token], -each.spot_gain_bps)
    )
    return Cycles(tuple(best_first))


def _judge(loop: Loop, gain: float, valuation: Valuation) -> Cycle:
    """Find the best amount of a loop and replay it."""
    first = loop[0]
    limits = first.market.limits(first.token_in, first.token_out)
    amount = find_best_amount(partial(_measure, loop), limits.min_amount_in, limits.max_amount_in)
    cycle = Cycle(
        tokens=tuple(each.token_in for each in loop),
        protocols=tuple(each.market.protocol for each in loop),
        market_ids=tuple(each.market.id for each in loop),
        spot_gain_bps=math.expm1(gain) * BPS,
        path=None,
    )
    if amount is None:
        return cycle
    priced = valuation.build_route(Side.EXACT_IN, _replay(loop, amount))
    return replace(cycle, path=Path(priced.hops), gas_cost=priced.gas_cost_out, is_gas_priced=priced.gas_priced)


def _measure(loop: Loop, amount: int) -> int | None:
    """Return what an amount gains: None if it is too large, and far less than nothing if it is too small."""
    try:
        return _replay(loop, amount)[-1].amount_out - amount
    except QuoteRefused as error:
        return amount - UNLIMITED if error.reason is Refusal.AMOUNT_TOO_LOW else None


def _replay(loop: Loop, amount: int) -> tuple[Hop, ...]:
    """Return the loop's hops, each spending what the one before gave.

    Raises
    ------
    QuoteRefused
        If a market refuses its amount.
    """
    hops: list[Hop] = []
    for each in loop:
        hops.append(each.market.quote_exact_in(each.token_in, each.token_out, hops[-1].amount_out if hops else amount))
    return tuple(hops)

"""The legs of a route: parts that one transaction each can do, in an order in which they can be sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.transactions.base import PlannedHop
from api.services.chains.trials import plan_hop
from api.services.execution.leg_parts import LegPart, list_parts
from routing_engine import Route, Side, Token
from routing_engine.fixed_point import BPS

if TYPE_CHECKING:
    from adapters.transactions.payment_builders import PaymentBuilders
    from routing_engine import Market


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteLeg:
    """A part of a route, for one transaction.

    Parameters
    ----------
    steps : tuple of int
        The route's steps that it does, counted from 0. A step that wraps the coin for several paths is done by each.
    hops : tuple of PlannedHop
        The same as hops, in series.
    is_buildable : bool
        Whether somebody builds such a call.
    is_first : bool
        Whether it spends what the route begins with, and not what another leg brings.
    is_last : bool
        Whether it gives what the route ends with.
    """

    steps: tuple[int, ...]
    hops: tuple[PlannedHop, ...]
    is_buildable: bool
    is_first: bool
    is_last: bool

    @property
    def token_in(self) -> Token:
        """What it spends."""
        return self.hops[0].hop.token_in

    @property
    def token_out(self) -> Token:
        """What it gives."""
        return self.hops[-1].hop.token_out

    @property
    def is_bridge(self) -> bool:
        """Whether what it gives arrives on another chain."""
        return self.token_in.chain_id != self.token_out.chain_id

    def most_in(self, side: Side, slippage_bps: int) -> int:
        """Return the most that it spends: what the route says, and the tolerance where the output is fixed."""
        amount = self.hops[0].hop.amount_in
        return amount if side is Side.EXACT_IN else add_tolerance(amount, slippage_bps)

    def least_out(self, side: Side, slippage_bps: int) -> int:
        """Return the least that it gives: what the route says, less the tolerance where the input is fixed."""
        amount = self.hops[-1].hop.amount_out
        return amount if side is Side.EXACT_OUT else take_tolerance(amount, slippage_bps)


def add_tolerance(amount: int, slippage_bps: int) -> int:
    """Return an input and the tolerance, rounded up."""
    return -(-amount * (BPS + slippage_bps) // BPS)


def take_tolerance(amount: int, slippage_bps: int) -> int:
    """Return an output less the tolerance, rounded down."""
    return amount * (BPS - slippage_bps) // BPS


def divide_route(route: Route, markets: Mapping[str, Market], builders: PaymentBuilders) -> tuple[RouteLeg, ...]:
    """Return the legs of a route, each as long as one call can be.

    Parameters
    ----------
    markets : mapping of str to Market
        The snapshot's, by id.
    builders : PaymentBuilders
        Who says what one call can do.
    """
    parts = list_parts([plan_hop(hop, markets[hop.market_id]) for hop in route.hops], builders)
    left, legs = dict.fromkeys(range(len(parts))), []
    while left:
        series = [parts[place] for place in _follow(parts, next(iter(left)), route.token_out)]
        length = next((each for each in range(len(series), 0, -1) if builders.can_build(_plan(series[:each]))), 0)
        done = series[: length or 1]
        for part in done:
            del left[parts.index(part)]
        hops = _plan(done)
        legs.append(
            RouteLeg(
                steps=tuple(part.step for part in done),
                hops=hops,
                is_buildable=length > 0,
                is_first=hops[0].hop.token_in == route.token_in,
                is_last=hops[-1].hop.token_out == route.token_out,
            )
        )
    return tuple(legs)


def _plan(parts: Sequence[LegPart]) -> tuple[PlannedHop, ...]:
    return tuple(part.planned for part in parts)


def _follow(parts: Sequence[LegPart], place: int, end: Token) -> Iterator[int]:
    """Yield a part and those after it, as long as each alone spends just what the one before alone gave."""
    while True:
        yield place
        part = parts[place]
        hop = part.planned.hop
        before = [each for each in parts if each.ends == part.ends]
        after = [number for number, each in enumerate(parts) if each.begins == part.ends]
        if hop.is_bridge or hop.token_out == end or len(before) != 1 or len(after) != 1:
            return
        (place,) = after
        if parts[place].planned.hop.amount_in != hop.amount_out:
            return

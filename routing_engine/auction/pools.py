"""The auction's liquidity as it is after some swaps, asked through the router."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from routing_engine.deadline import Clock
from routing_engine.errors import RoutingError, UnknownToken
from routing_engine.formats.wraps import find_wraps
from routing_engine.market import UNLIMITED, Market
from routing_engine.model import Hop, Token
from routing_engine.request import RouteRequest
from routing_engine.route import Route, Side
from routing_engine.router import Router
from routing_engine.snapshot.snapshot import Snapshot

WRAP = "wrap"
"""The contract that wraps the coin is there for gas to have a price; no solution goes through it."""

SHORTEST_MS, LONGEST_MS = 1, 600_000


class OutOfTime(RoutingError):
    """The time for an auction is over; what was found until then is the answer."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Liquidity in one state.

    Parameters
    ----------
    router : Router
        Over its markets.
    remaining_s : callable
        How many seconds are left.
    denied : frozenset of str
        Protocols that no solution goes through.
    """

    router: Router
    remaining_s: Callable[[], float]
    denied: frozenset[str]

    @classmethod
    def of(
        cls, markets: Sequence[Market], chain_id: int, gas_price: int, remaining_s: Callable[[], float], clock: Clock
    ) -> Pools:
        """Return liquidity in its first state."""
        wraps = [*find_wraps(markets)]
        snapshot = Snapshot([*markets, *wraps], gas_prices={chain_id: gas_price})
        return cls(Router(snapshot, clock=clock), remaining_s, frozenset({WRAP} if wraps else ()))

    def sell(self, token_in: Token, token_out: Token, amount: int) -> Route | None:
        """Return the best route for a sale; None where there is none."""
        return self._ask(token_in, token_out, amount, Side.EXACT_IN)

    def buy(self, token_in: Token, token_out: Token, amount: int) -> Route | None:
        """Return the best route that buys an amount; None where there is none."""
        return self._ask(token_in, token_out, amount, Side.EXACT_OUT)

    def _ask(self, token_in: Token, token_out: Token, amount: int, side: Side) -> Route | None:
        left = self.remaining_s()
        if left <= 0:
            raise OutOfTime("the auction's time is over")
        if not 0 < amount <= UNLIMITED:
            return None
        try:
            request = RouteRequest(
                token_in=token_in, token_out=token_out, amount=amount, side=side, deny_protocols=self.denied,
                time_budget_ms=min(max(SHORTEST_MS, int(left * 1e3)), LONGEST_MS), certify=False,
            )  # fmt: skip
            found = self.router.find_routes(request)
        except UnknownToken:  # no pool has it
            return None
        return found.routes[0] if found.routes else None

    def after(self, hops: Sequence[Hop]) -> Pools:
        """Return the liquidity after some swaps, replayed to the unit.

        Raises
        ------
        RuntimeError
            If a swap gives another amount here than it was found with.
        """
        states: dict[str, Market] = {}
        for hop in hops:
            market = states.get(hop.market_id) or self.router.snapshot.markets[hop.market_id]
            done, states[hop.market_id] = market.swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)
            if done.amount_out != hop.amount_out:
                raise RuntimeError(
                    f"{hop.market_id} gives {done.amount_out}, not {hop.amount_out}: it is in another state"
                )
        return Pools(self.router.follow(self.router.snapshot.apply(states.values())), self.remaining_s, self.denied)

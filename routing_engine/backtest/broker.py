"""Orders from their decision to their fill, and the money that moves on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from routing_engine.analysis.fills import Fill, fill_route
from routing_engine.backtest.portfolio import Portfolio
from routing_engine.backtest.trades import CROSSES_CHAINS, NO_FUNDS, SLIPPAGE, SimulatedTrade, TradeStatus
from routing_engine.errors import UnknownToken
from routing_engine.fixed_point import BPS
from routing_engine.model import NATIVE_ADDRESS, Token
from routing_engine.reference.chains import CHAINS
from routing_engine.request import RouteRequest
from routing_engine.result import Status
from routing_engine.route import Route
from routing_engine.router import Router
from routing_engine.snapshot.snapshot import Snapshot

FINE = 1_000_000
"""Parts of a basis point in which a tolerance is counted."""


@dataclass(frozen=True, slots=True)
class _Order:
    number: int
    due: int
    route: Route


class Broker:
    """Executes what a strategy wants, each thing some blocks later.

    Parameters
    ----------
    portfolio : Portfolio
        What there is.
    chain_id : int
        Where it trades.
    latency : int
        Blocks from a decision to its transaction.
    slippage_bps : float
        How much less than expected may come out.
    """

    def __init__(self, portfolio: Portfolio, chain_id: int, latency: int, slippage_bps: float) -> None:
        self.portfolio = portfolio
        self._chain_id, self._latency = chain_id, latency
        self._kept_parts = BPS * FINE - round(slippage_bps * FINE)
        self._trades: list[SimulatedTrade] = []
        self._orders: list[_Order] = []

    def take(self, wanted: RouteRequest | Route, router: Router, block: int) -> None:
        """Take an order that was decided on the market after a block; what it spends is put aside.

        Raises
        ------
        InvalidRequest
            If a request names a token, a protocol or a chain that the market does not have.
        """
        route = wanted if isinstance(wanted, Route) else self._find_route(wanted, router, block)
        if route is None:
            return
        ends = route.token_in, route.token_out
        if any(token.chain_id != self._chain_id for hop in route.hops for token in (hop.token_in, hop.token_out)):
            self._refuse(ends, block, CROSSES_CHAINS, route)
        elif self.portfolio[route.token_in] < route.amount_in:
            self._refuse(ends, block, NO_FUNDS, route)
        else:
            self.portfolio = self.portfolio.add(route.token_in, -route.amount_in)
            self._orders.append(_Order(len(self._trades), block + self._latency, route))
            minimum = route.amount_out * self._kept_parts // (BPS * FINE)
            self._trades.append(
                SimulatedTrade(
                    decided_block=block, token_in=ends[0], token_out=ends[1], status=TradeStatus.PENDING, route=route,
                    minimum=minimum,
                )
            )  # fmt: skip

    def execute_due(self, market: Snapshot, block: int) -> None:
        """Execute what is due as the last transactions of a block, one after the other, on the market after it."""
        waiting, self._orders = self._orders, []
        for order in waiting:
            if order.due > block:
                self._orders.append(order)
            else:
                market = self._execute(order, market, block)

    def list_all(self) -> Mapping[Token, int]:
        """Return what there is, with what is put aside for orders."""
        found: Counter[Token] = Counter(dict(self.portfolio))
        for order in self._orders:
            found[order.route.token_in] += order.route.amount_in
        return found

    def list_trades(self) -> tuple[SimulatedTrade, ...]:
        """Return all, those too that still wait."""
        return tuple(self._trades)

    def _find_route(self, request: RouteRequest, router: Router, block: int) -> Route | None:
        """Answer a request; None, with a trade that says so, where there is no route."""
        try:
            result = router.find_routes(request)
        except UnknownToken:
            if not isinstance(request.token_in, Token) or not isinstance(request.token_out, Token):
                raise  # a name that may never have been one
            self._refuse((request.token_in, request.token_out), block, str(Status.NO_ROUTE).upper())
            return None
        if not result.routes:
            self._refuse((result.request.token_in, result.request.token_out), block, str(result.status).upper())
            return None
        return result.best()

    def _execute(self, order: _Order, market: Snapshot, block: int) -> Snapshot:
        """Execute one order; return the market after it."""
        trade, route = self._trades[order.number], order.route
        fill = fill_route(route, market)
        reason = str(fill.refusal) or (SLIPPAGE if fill.amount_out < trade.minimum else "")
        gas = sum(hop.gas for hop in route.hops[: len(fill.hops) + bool(fill.refusal)])
        paid = gas * market.gas_prices.get(self._chain_id, 0)
        if reason:
            self.portfolio = self.portfolio.add(route.token_in, route.amount_in)
        else:
            self.portfolio = self.portfolio.add(route.token_out, fill.amount_out)
            market = _move(market, fill)
        self.portfolio = self.portfolio.add(self._find_coin(), -paid)
        self._trades[order.number] = replace(
            trade, filled_block=block, status=TradeStatus.FAILED if reason else TradeStatus.FILLED, reason=reason,
            amount_out=0 if reason else fill.amount_out, gas=gas, gas_paid=paid, market_id=fill.market_id,
        )  # fmt: skip
        return market

    def _refuse(self, ends: tuple[Token, Token], block: int, reason: str, route: Route | None = None) -> None:
        self._trades.append(
            SimulatedTrade(
                decided_block=block, token_in=ends[0], token_out=ends[1], status=TradeStatus.NOT_SENT, reason=reason,
                route=route,
            )
        )  # fmt: skip

    def _find_coin(self) -> Token:
        """Return the coin that gas is paid in."""
        chain = CHAINS.get(self._chain_id)
        if chain is None:
            return Token(chain_id=self._chain_id, address=NATIVE_ADDRESS, symbol="COIN", decimals=18)
        return chain.native_token


def _move(market: Snapshot, fill: Fill) -> Snapshot:
    """Return the market after a fill; each market is in a route once."""
    changed = [
        market.markets[hop.market_id].swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)[1] for hop in fill.hops
    ]
    return market.apply(changed)

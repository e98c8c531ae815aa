"""A strategy tried on a recorded market, block after block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from routing_engine.backtest.broker import Broker
from routing_engine.backtest.equity import Equity, value_portfolio
from routing_engine.backtest.portfolio import Portfolio
from routing_engine.backtest.trades import SimulatedTrade, TradeStatus, describe_trades
from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column
from routing_engine.frames.table import Table
from routing_engine.history.history import History
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.route import Route
from routing_engine.router import Router
from routing_engine.values import seal

Strategy = Callable[[Router, int, Portfolio], Iterable[RouteRequest | Route]]
"""Takes a router on the market after a block, the block's number, and what is free to be spent; says what to trade."""

Progress = Callable[[int, int], None]
"""Told how many blocks are done, and how many there are."""

USUAL_SLIPPAGE_BPS = 50.0


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Backtest(Table):
    """What became of a strategy; as a table, a row for each trade.

    Parameters
    ----------
    trades : tuple of SimulatedTrade
        In the order in which they were decided.
    portfolio : Portfolio
        What is there in the end.
    equity : Equity
        What everything was worth after each block.
    """

    trades: tuple[SimulatedTrade, ...]
    portfolio: Portfolio
    equity: Equity

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each trade; see `Table`."""
        return describe_trades(self.trades)

    def __repr__(self) -> str:
        counts = Counter(trade.status for trade in self.trades)
        parts = [f"{counts[each]} {each}" for each in TradeStatus if counts[each]]
        free = sum(trade.gas > 0 and not trade.gas_paid for trade in self.trades)
        doubt = f"; gas of {free} counted as free" if free else ""
        return f"Backtest({len(self.trades)} trades: {', '.join(parts) or 'none'}; {self.equity!r}{doubt})"


def backtest(
    history: History,
    strategy: Strategy,
    portfolio: Mapping[Token | str, int],
    *,
    value_in: Token | str,
    latency: int = 1,
    slippage_bps: float = USUAL_SLIPPAGE_BPS,
    gas_prices: Mapping[int, int] | None = None,
    progress: Progress | None = None,
) -> Backtest:
    """Let a strategy trade on a recorded market.

    After each block the strategy sees the market and says what to trade. That is executed as the last transaction of
    the block that is `latency` blocks later, on the market recorded there: exactly, all or nothing. Several are
    executed in the order in which they were decided. A trade fails where less than its minimum would come out, or a
    market is gone or refuses; gas is paid either way.

    Own trades change the market for those that are executed after them in the same block, and for no later one: the
    recorded market takes over again. So much of the own impact is not seen, the more the longer prices would take to
    come back. What others would have done because of the trades is not known.

    Parameters
    ----------
    history : History
        The market.
    strategy : callable
        See `Strategy`. A request is answered on the market that it was decided on; a route is taken as it is.
    portfolio : mapping of Token or str to int
        What there is in the beginning, in smallest units. The coin for gas need not be there: it may become a debt.
    value_in : Token or str
        What the equity is counted in.
    latency : int
        Blocks from a decision to its transaction, at least 1: the next block.
    slippage_bps : float
        How much less than expected may come out, 0 to 10,000.
    gas_prices : mapping of int to int, optional
        Wei per gas unit by chain id, in place of the recorded ones.
    progress : callable, optional
        Called with the number of blocks done, and of all.

    Raises
    ------
    InvalidRequest
        If an option is out of bounds, there is no block, or a token is unknown; or as the strategy's requests do.
    """
    _require_options(latency, slippage_bps)
    if not len(history):
        raise InvalidRequest("history", "has no block; choose some")
    first = history[0]
    unit = value_in if isinstance(value_in, Token) else first.token(value_in)
    broker = Broker(Portfolio.of(portfolio, first), history.chain_id, latency, slippage_bps)
    values = []
    for done, (block, router) in enumerate(zip(history.blocks, _list_routers(history, gas_prices), strict=True), 1):
        broker.execute_due(router.snapshot, block)
        values.append(value_portfolio(broker.list_all(), router, unit))
        for wanted in _read_wishes(strategy(router, block, broker.portfolio)):
            broker.take(_check(wanted), router, block)
        if progress:
            progress(done, len(history))
    return Backtest(broker.list_trades(), broker.portfolio, Equity(unit, history.blocks, tuple(values)))


@dataclass(slots=True)
class _Repeated:
    """Asks for the same now and then; a class, since functions in functions don't pickle."""

    blocks: int
    request: RouteRequest
    last: int | None = None

    def __call__(self, _: Router, block: int, __: Portfolio) -> list[RouteRequest]:
        if self.last is None or block >= self.last + self.blocks or block < self.last:
            self.last = block
            return [self.request]
        return []


def trade_every(blocks: int, request: RouteRequest) -> Strategy:
    """Return the strategy that asks for the same every so many blocks, beginning with the first.

    Raises
    ------
    InvalidRequest
        If that is no int of at least 1.
    """
    if isinstance(blocks, bool) or not isinstance(blocks, int) or blocks < 1:
        raise InvalidRequest("every", f"must be an int of at least 1, not {blocks!r}")
    return _Repeated(blocks, request)


def _require_options(latency: Any, slippage_bps: Any) -> None:
    """Check how a strategy's wishes are to be executed."""
    if isinstance(latency, bool) or not isinstance(latency, int) or latency < 1:
        raise InvalidRequest("latency", f"must be an int of at least 1, not {latency!r}")
    if isinstance(slippage_bps, bool) or not isinstance(slippage_bps, int | float) or not 0 <= slippage_bps <= BPS:
        raise InvalidRequest("slippage_bps", f"must be from 0 to {BPS:,}, not {slippage_bps!r}")


def _list_routers(history: History, gas_prices: Mapping[int, int] | None) -> Iterator[Router]:
    """Yield a router on each block, at given gas prices if there are any."""
    if not gas_prices:
        yield from history.routers()
        return
    router: Router | None = None
    for recorded in history:
        snapshot = recorded.apply(gas_prices=gas_prices)
        router = Router(snapshot) if router is None else router.follow(snapshot)
        yield router


def _read_wishes(given: Any) -> Iterable[Any]:
    """Return what a strategy wants at a block.

    Raises
    ------
    InvalidRequest
        If it gives no list.
    """
    if not isinstance(given, Iterable):
        raise InvalidRequest("strategy", f"must return a list of requests and routes, empty for none, not {given!r}")
    return given


def _check(wanted: Any) -> RouteRequest | Route:
    if not isinstance(wanted, RouteRequest | Route):
        raise InvalidRequest("strategy", f"must give requests or routes, not {wanted!r}")
    return wanted

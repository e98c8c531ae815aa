"""Several strategies on one history, side by side: over threads, processes or Dask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from routing_engine.backtest.backtest import Backtest, Progress, Strategy, backtest
from routing_engine.backtest.trades import TradeStatus
from routing_engine.batch.executor import require_executor
from routing_engine.errors import InvalidRequest
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.history.history import History
from routing_engine.model import Token
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Backtests(Table):
    """What became of several strategies; as a table, a row for each.

    Parameters
    ----------
    names : tuple of str
        Of the strategies, in the order in which they were given.
    backtests : tuple of Backtest
        In the same order.
    """

    names: tuple[str, ...]
    backtests: tuple[Backtest, ...]

    def __getitem__(self, name: str) -> Backtest:
        """Return what became of one strategy."""
        return self.backtests[self.names.index(name)]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each strategy; see `Table`."""
        curves = [each.equity for each in self.backtests]
        unit = str(curves[0].token) if curves else ""
        ended = [Counter(trade.status for trade in each.trades) for each in self.backtests]
        return (
            Column("strategy", Kind.TEXT, list(self.names)),
            Column("trades", Kind.COUNT, [len(each.trades) for each in self.backtests]),
            *(Column(str(status), Kind.COUNT, [counts[status] for counts in ended]) for status in TradeStatus),
            Column("gas", Kind.COUNT, [sum(trade.gas for trade in each.trades) for each in self.backtests]),
            Column("value", Kind.NUMBER, [curve.values[-1] for curve in curves], unit=unit),
            Column("change", Kind.NUMBER, [curve.change for curve in curves], unit=unit),
        )

    def __repr__(self) -> str:
        return f"Backtests({', '.join(self.names)})"


def backtest_many(
    history: History,
    strategies: Mapping[str, Strategy],
    portfolio: Mapping[Token | str, int],
    *,
    value_in: Token | str,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Backtests:
    """Try several strategies on the same history, each with a portfolio of its own.

    Parameters
    ----------
    history : History
        The market. It travels as the name of its file, which each process opens for itself.
    strategies : mapping of str to Strategy
        By names. For processes they have to pickle: functions of a module, or objects of its classes that can be
        called. Dask takes lambdas and functions of a notebook too.
    portfolio, value_in
        As for `backtest`.
    executor : concurrent.futures.Executor, optional
        Where they run, such as `ProcessPoolExecutor` or Dask's ``Client().get_executor()``; threads of this process
        without one. It is not shut down.
    progress : callable, optional
        Told how many strategies are done, and how many there are.
    **options
        `latency`, `slippage_bps` and `gas_prices` of `backtest`.

    Raises
    ------
    InvalidRequest
        If there is no strategy or `executor` is none; or as `backtest` does.
    """
    if not strategies:
        raise InvalidRequest("strategies", "has none; give them by their names")
    require_executor(executor)
    where: Any = nullcontext(executor) if executor else ThreadPoolExecutor(thread_name_prefix="backtests")
    with where as pool:
        futures: dict[Future[Backtest], str] = {
            pool.submit(backtest, history, strategy, dict(portfolio), value_in=value_in, **options): name
            for name, strategy in strategies.items()
        }
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if progress:
                    progress(done, len(futures))
        finally:
            for future in futures:
                future.cancel()
        return Backtests(tuple(strategies), tuple(future.result() for future in futures))

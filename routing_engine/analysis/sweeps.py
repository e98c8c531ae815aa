"""One question, asked with every combination of some options."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from routing_engine.analysis.arguments import require_request, require_router
from routing_engine.batch.executor import Progress
from routing_engine.batch.quotes import Quotes, quote_requests
from routing_engine.errors import InvalidRequest
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.request import RouteRequest
from routing_engine.request_fields import show
from routing_engine.router import Router
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Table):
    """Answers by options; as a table, a row for each combination: the options first, then what quotes have.

    Parameters
    ----------
    options : tuple of (str, tuple)
        Names, and the values of each in the order of the rows.
    quotes : Quotes
        In the same order.
    """

    options: tuple[tuple[str, tuple[Any, ...]], ...]
    quotes: Quotes

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each combination; see `Table`."""
        taken = {name for name, _ in self.options}
        asked = tuple(_describe_option(name, values) for name, values in self.options)
        return asked + tuple(column for column in self.quotes.columns() if column.name not in taken)

    def __repr__(self) -> str:
        return f"Sweep({', '.join(name for name, _ in self.options)}: {self.quotes!r})"


def sweep(
    router: Router,
    request: RouteRequest,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Sequence[Any],
) -> Sweep:
    """Ask a question with every combination of options.

    Parameters
    ----------
    router : Router
        On the snapshot.
    request : RouteRequest
        What is the same in all.
    executor, workers, progress
        Where to search, and whom to tell: see `batch.executor.answer_requests`.
    **options
        Fields of `RouteRequest`, each with the values to try: ``amount=[…], gas_prices=[{1: 10**9}, {1: 10**10}]``.

    Raises
    ------
    InvalidRequest
        If an option is none, has no values, or a value is out of bounds; nothing is searched then.

    Examples
    --------
    >>> from routing_engine import Router, RouteRequest, Snapshot
    >>> request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=10**18, max_hops=2)
    >>> asked = sweep(Router(Snapshot.sandbox()), request, amount=[10**18, 10**20], max_splits=[1, 10])
    >>> len(asked.quotes.results)
    4
    """
    require_router(router)
    require_request(request)
    for name, values in options.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not len(values):
            raise InvalidRequest(name, f"needs a list of values to try, such as [{show(values)}], not {show(values)}")
    rows = list(product(*options.values()))
    try:
        requests = [replace(request, **dict(zip(options, row, strict=True))) for row in rows]
    except TypeError as error:
        raise InvalidRequest("options", f"{error}; give fields of RouteRequest") from error
    quotes = quote_requests(router, requests, executor=executor, workers=workers, progress=progress)
    columns = zip(*rows, strict=True)
    return Sweep(tuple((name, tuple(values)) for name, values in zip(options, columns, strict=True)), quotes)


def _describe_option(name: str, values: Sequence[Any]) -> Column:
    if name == "amount":
        return Column(name, Kind.UNITS, [int(value) for value in values], unit="smallest units")
    kinds = {bool: Kind.FLAG, int: Kind.COUNT, float: Kind.NUMBER}
    found = {kinds.get(type(value), Kind.TEXT) for value in values}
    if found == {Kind.COUNT, Kind.NUMBER}:
        return Column(name, Kind.NUMBER, [float(value) for value in values])
    kind = found.pop() if len(found) == 1 else Kind.TEXT
    return Column(name, kind, [str(value) if kind is Kind.TEXT else value for value in values])

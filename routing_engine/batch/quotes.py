"""Arrays of requests, and answers as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from routing_engine.batch.executor import Progress, TimedResult, answer_requests
from routing_engine.batch.searcher import Searcher
from routing_engine.errors import InvalidRequest
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_ends
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.result import RouteResult
from routing_engine.route_columns import describe_routes
from routing_engine.values import seal

FindToken = Callable[[object, str], Token]
"""Returns the token that a value means, or raises `InvalidRequest` for the field."""


@seal
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Quotes(Table):
    """Answers to many requests as arrays of shape (n,), in the order of the requests.

    As a table they have a row for each request.

    Parameters
    ----------
    status : object array of Status
        How each search ended.
    amount_in, amount_out, amount_out_net, amount_in_gross : object array of int
        Of the best routes, smallest units, as `Route` has them; 0 where there is none.
    gas : int64 array
        Gas units; 0 where there is no route.
    gap_bps : float64 array
        How far each route can be from the best there is; NaN where nothing is proven.
    elapsed_ms : float64 array
        Of each search.
    results : tuple of RouteResult
        The routes themselves.

    Examples
    --------
    >>> from routing_engine import Router, Snapshot
    >>> quotes = Router(Snapshot.sandbox()).quote_many("WETH@1", ["USDC@1", "USDC@10"], 10**18)
    >>> quotes.found.tolist()
    [True, True]
    """

    status: npt.NDArray[np.object_]
    amount_in: npt.NDArray[np.object_]
    amount_out: npt.NDArray[np.object_]
    amount_out_net: npt.NDArray[np.object_]
    amount_in_gross: npt.NDArray[np.object_]
    gas: npt.NDArray[np.int64]
    gap_bps: npt.NDArray[np.float64]
    elapsed_ms: npt.NDArray[np.float64]
    results: tuple[RouteResult, ...]

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Which requests have a route."""
        return np.array([bool(result.routes) for result in self.results], np.bool_)

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each request; see `Table`."""
        requests = [result.request for result in self.results]
        ends = [(request.token_in, request.token_out) for request in requests]
        return (
            *describe_ends(ends),
            Column("side", Kind.TEXT, [str(request.side) for request in requests]),
            Column("status", Kind.TEXT, [str(status) for status in self.status]),
            *describe_routes([result.routes[0] if result.routes else None for result in self.results], ends),
            Column("gap_bps", Kind.NUMBER, self.gap_bps.tolist(), unit="bps"),
            Column("elapsed_ms", Kind.NUMBER, self.elapsed_ms.tolist(), unit="ms"),
        )

    def __repr__(self) -> str:
        total = float(self.elapsed_ms.sum())
        return f"Quotes({np.count_nonzero(self.found)} of {len(self.results)} found; {total:,.1f} ms of search)"

    @classmethod
    def of(cls, answers: Sequence[TimedResult]) -> Quotes:
        """Lay answers out as arrays."""
        best = [answer.result.routes[0] if answer.result.routes else None for answer in answers]

        def amounts(name: str) -> npt.NDArray[np.object_]:
            return np.array([getattr(route, name) if route else 0 for route in best], np.object_)

        gaps = [np.nan if answer.gap_bps is None else answer.gap_bps for answer in answers]
        return cls(
            status=np.array([answer.result.status for answer in answers], np.object_),
            amount_in=amounts("amount_in"),
            amount_out=amounts("amount_out"),
            amount_out_net=amounts("amount_out_net"),
            amount_in_gross=amounts("amount_in_gross"),
            gas=np.array([route.gas if route else 0 for route in best], np.int64),
            gap_bps=np.array(gaps, np.float64),
            elapsed_ms=np.array([answer.elapsed_ms for answer in answers], np.float64),
            results=tuple(answer.result for answer in answers),
        )


def quote_requests(
    searcher: Searcher,
    requests: Sequence[RouteRequest],
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Quotes:
    """Answer requests side by side; `executor.answer_requests` says what the arguments mean."""
    return Quotes.of(list(answer_requests(searcher, requests, executor=executor, workers=workers, progress=progress)))


def make_requests(
    find_token: FindToken, token_in: object, token_out: object, amount: object, side: object, **options: Any
) -> list[RouteRequest]:
    """Return a request for each position of the given columns; a single value stands for a whole column.

    Parameters
    ----------
    find_token : callable
        Given a value of `token_in` or `token_out` and the field's name, returns the token that is meant.
    token_in, token_out : what `find_token` knows, or sequences or arrays of it
        From and to.
    amount : int, or sequence or array of int
        Smallest units; object arrays hold what does not fit into 64 bits.
    side : str, or sequence or array of str
        ``exact_in`` or ``exact_out``.
    **options
        Other fields of `RouteRequest`, for all.

    Raises
    ------
    InvalidRequest
        Naming the field and the position, counted from 0 as in the columns.
    """
    given = {"token_in": token_in, "token_out": token_out, "amount": amount, "side": side}
    columns = {field: _list_column(field, values) for field, values in given.items()}
    size = max((len(column) for column in columns.values() if len(column) != 1), default=1)
    for field, column in columns.items():
        if len(column) not in (1, size):
            raise InvalidRequest(field, f"has {len(column)} values, but there are {size} requests; give one for each")
    rows = zip(*(column * size if len(column) == 1 else column for column in columns.values()), strict=True)
    return [_make_request(find_token, number, row, options) for number, row in enumerate(rows)]


def _list_column(field: str, values: object) -> list[Any]:
    """Return one value or many as a list: also an array, or a column of pandas or polars."""
    if isinstance(values, np.ndarray):
        if values.ndim > 1:
            raise InvalidRequest(
                field, f"must have one dimension, not shape {values.shape}; ravel() lays it out in one"
            )
        return list(np.atleast_1d(values).tolist())
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def _make_request(find_token: FindToken, number: int, row: tuple[Any, ...], options: dict[str, Any]) -> RouteRequest:
    token_in, token_out, amount, side = row
    try:
        return RouteRequest(
            token_in=find_token(token_in, "token_in"),
            token_out=find_token(token_out, "token_out"),
            amount=amount,
            side=side,
            **options,
        )
    except InvalidRequest as error:
        raise type(error)(error.field, f"{error.message} (request {number}, counted from 0)") from error

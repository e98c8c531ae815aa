"""Files of requests: each row becomes a request or an error of its own, each answer one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from routing_engine.batch.executor import Progress, TimedResult, answer_requests
from routing_engine.batch.searcher import Searcher
from routing_engine.errors import InvalidRequest
from routing_engine.model import Hop, Token
from routing_engine.request import RouteRequest
from routing_engine.request_fields import RequestOptions
from routing_engine.route import Side
from routing_engine.snapshot.snapshot import Snapshot

SIDES = {"exact_in": Side.EXACT_IN, "sell": Side.EXACT_IN, "exact_out": Side.EXACT_OUT, "buy": Side.EXACT_OUT}
"""What a row may say, in any case; orders of exchanges say sell and buy."""

OPTIONS = RequestOptions.__annotations__.keys() - {"side"}
"""What holds for all requests of a file, so that in a row it would be passed over."""

LIKENESS = 0.8
"""From here on a name is taken for a misspelt ``side``: ``sides`` and ``sid`` are, ``size`` is not."""

MAX_DIGITS = 100
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Line:
    """One answer.

    Parameters
    ----------
    row : int
        Position of its row in the file, from 0.
    answer : TimedResult or InvalidRequest
        What was found, or what is wrong with the row.
    """

    row: int
    answer: TimedResult | InvalidRequest

    @property
    def status(self) -> str:
        """How the search ended, a `Status`; for a bad row the code of its error."""
        return self.answer.code if isinstance(self.answer, InvalidRequest) else str(self.answer.result.status)

    @property
    def gas_is_free(self) -> bool:
        """Whether there is a route whose gas could not be counted."""
        if isinstance(self.answer, InvalidRequest) or not self.answer.result.routes:
            return False
        return not self.answer.result.best().gas_priced

    def document(self) -> dict[str, Any]:
        """Return it as one JSON object with the same keys for every row; amounts are digit strings.

        Only found routes have amounts and steps; `error` says why there is none.
        """
        document: dict[str, Any] = {
            "row": self.row, "status": self.status, "amount_in": None, "amount_out": None, "amount_out_net": None,
            "gas": None, "gap_bps": None, "gap_scope": None, "elapsed_ms": None, "steps": [], "error": None,
        }  # fmt: skip
        if isinstance(self.answer, InvalidRequest):
            wrong = {"field": self.answer.field, "message": self.answer.message}
            return document | {"error": wrong}
        document["elapsed_ms"] = round(self.answer.elapsed_ms, 3)
        failure = self.answer.result.failure
        if failure:
            return document | {"error": {"field": None, "message": str(failure)}}
        route, certificate = self.answer.result.best(), self.answer.result.certificate
        return document | {
            "amount_in": str(route.amount_in),
            "amount_out": str(route.amount_out),
            "amount_out_net": str(route.amount_out_net),
            "gas": route.gas,
            "gap_bps": certificate.gap_bps if certificate else None,
            "gap_scope": certificate.scope if certificate else None,
            "steps": [_describe_step(hop) for hop in route.hops],
        }


def _describe_step(hop: Hop) -> dict[str, str]:
    return {
        "market": hop.market_id,
        "token_in": hop.token_in.key,
        "token_out": hop.token_out.key,
        "amount_in": str(hop.amount_in),
        "amount_out": str(hop.amount_out),
    }


def answer_rows(
    searcher: Searcher,
    rows: Sequence[object],
    reader: RowReader,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Line]:
    """Answer the rows of a file, in their order; a bad one stops none of the others.

    Parameters
    ----------
    searcher : Searcher
        On whose snapshot to search.
    rows : sequence
        From `formats.requests.load_requests`.
    reader : RowReader
        Understands them.
    workers, progress
        As `executor.answer_requests` takes them; the progress counts rows that can be searched.
    """
    read = [reader.try_read(row) for row in rows]
    good = [each for each in read if isinstance(each, RouteRequest)]
    found = answer_requests(searcher, good, workers=workers, progress=progress)
    for number, each in enumerate(read):
        yield Line(number, each if isinstance(each, InvalidRequest) else next(found))


class RowReader:
    """Make requests of rows.

    Parameters
    ----------
    snapshot : Snapshot
        Whose tokens rows name.
    options : mapping
        Further fields of `RouteRequest`, for all.

    Raises
    ------
    InvalidRequest
        If an option is out of bounds, which no row could make good.
    """

    def __init__(self, snapshot: Snapshot, options: Mapping[str, Any]) -> None:
        self._snapshot, self._options = snapshot, dict(options)
        self._tokens: dict[str, Token] = {}
        first, second = (Token(chain_id=1, address="0x" + 40 * name, symbol=name, decimals=0) for name in "ab")
        RouteRequest(token_in=first, token_out=second, amount=1, **self._options)

    def try_read(self, row: object) -> RouteRequest | InvalidRequest:
        """Return the row's request, or what is wrong with it."""
        try:
            return self.read(row)
        except InvalidRequest as error:
            return error

    def read(self, row: object) -> RouteRequest:
        """Return the row's request.

        Raises
        ------
        InvalidRequest
            Naming the row's field and the remedy.
        """
        if not isinstance(row, Mapping):
            form = "an object that names token_in, token_out and amount, nor a value for each column"
            raise InvalidRequest("row", f"{_shorten(row)} is neither {form}; write them all")
        _check_names(row)
        return RouteRequest(
            token_in=self._find_token(row, "token_in"),
            token_out=self._find_token(row, "token_out"),
            amount=_read_amount(row),
            side=_read_side(row),
            **self._options,
        )

    def _find_token(self, row: Mapping[str, object], field: str) -> Token:
        name = row.get(field)
        if not isinstance(name, str) or not name.strip():
            raise InvalidRequest(field, f"is {_shorten(name)}; write a token as address@chain, SYMBOL@chain or address")
        token = self._tokens.get(name)
        if token is None:
            try:
                token = self._tokens[name] = self._snapshot.token(name)
            except InvalidRequest as error:
                raise type(error)(field, error.message) from error
        return token


def _check_names(row: Mapping[str, object]) -> None:
    """Refuse what a caller means and nobody would read; what else stands in a row is his own."""
    for name in row:
        if name in OPTIONS:
            raise InvalidRequest(
                name, "holds for all requests: give it as an option, and call a column of your own otherwise"
            )
        if name != "side" and get_close_matches(name.strip().lower(), ["side"], cutoff=LIKENESS):
            raise InvalidRequest(name, "is read by nobody; did you mean side?")


def _read_amount(row: Mapping[str, object]) -> int:
    value = row.get("amount")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        message = f"{_shorten(value)} is not a number of smallest units; write its digits, in JSON as a string"
        raise InvalidRequest("amount", message)
    return int(text)


def _read_side(row: Mapping[str, object]) -> Side:
    value = row.get("side")
    if value is None or value == "":
        return Side.EXACT_IN
    side = SIDES.get(value.strip().lower()) if isinstance(value, str) else None
    if side is None:
        raise InvalidRequest("side", f"{_shorten(value)} is none of {', '.join(SIDES)}")
    return side


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"

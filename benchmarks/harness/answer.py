"""What a solver answers: swaps in order, or amounts down paths; as JSON too. Nothing it claims is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from routing_engine.market import UNLIMITED
from routing_engine.nesting import TooDeep, refuse_deep

MOST_BYTES = 1 << 20
"""Of an answer; a route of a hundred paths has some tens of thousands."""

MOST_SWAPS = 2_000
MOST_DIGITS = len(str(UNLIMITED))
"""Of an amount: what 256 bits hold."""

SHOWN = 80


class BadAnswer(ValueError):
    """An answer is not of the documented form; the text names the field."""


@dataclass(frozen=True, slots=True)
class Swap:
    """One use of one market.

    Parameters
    ----------
    market : str
        Its id in the market file.
    token_in, token_out : str
        ``address@chain``, as the market file names tokens.
    amount : int or None
        Smallest units of `token_in`; None takes all that is there then: of the token, or down a path what the swap
        before gave.
    """

    market: str
    token_in: str
    token_out: str
    amount: int | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        fields = {"market": self.market, "token_in": self.token_in, "token_out": self.token_out}
        return fields if self.amount is None else {**fields, "amount": str(self.amount)}


Path = tuple[int | None, tuple[Swap, ...]]
"""Smallest units of the request's token, None for all that is left, and what they go through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A route: either `swaps` or `paths`; with neither, the solver found none.

    Parameters
    ----------
    swaps : tuple of Swap
        In an order in which they can run.
    paths : tuple of Path
        Each runs on what those before it left of the markets.
    claimed : int or None
        What the solver says that it gives, or costs where an output was asked for. It is compared, never counted.
    """

    swaps: tuple[Swap, ...] = ()
    paths: tuple[Path, ...] = ()
    claimed: int | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        found: dict[str, Any] = {} if self.claimed is None else {"claimed": str(self.claimed)}
        if self.paths:
            rows = [{"swaps": [swap.document() for swap in path]} for _, path in self.paths]
            for row, (amount, _) in zip(rows, self.paths, strict=True):
                row |= {} if amount is None else {"amount": str(amount)}
            return {**found, "paths": rows}
        return {**found, "swaps": [swap.document() for swap in self.swaps]}


def parse_answer(text: bytes) -> Answer:
    """Return what a body of JSON holds.

    Raises
    ------
    BadAnswer
        If it is no such JSON.
    """
    try:
        refuse_deep(text)
        return read_answer(json.loads(text))
    except (TooDeep, UnicodeDecodeError) as error:
        raise BadAnswer(f"the answer is not JSON text ({error})") from error
    except json.JSONDecodeError as error:
        raise BadAnswer(f"the answer is not JSON: {error}") from error
    except ValueError as error:  # such as a number of more digits than Python reads
        raise BadAnswer(str(error)) from error


def read_answer(document: object) -> Answer:
    """Return what an answer's document holds; None stands for no route.

    Raises
    ------
    BadAnswer
        Naming the field.
    """
    if document is None:
        return Answer()
    if not isinstance(document, Mapping):
        raise BadAnswer(f"expected an object with 'swaps' or 'paths', not {_show(document)}")
    if document.get("swaps") and document.get("paths"):
        raise BadAnswer("give either 'swaps' or 'paths', not both")
    if "swaps" not in document and "paths" not in document:
        raise BadAnswer("there are neither 'swaps' nor 'paths'; an empty list of either says that there is no route")
    claimed = document.get("claimed")
    paths = tuple(
        (_read_amount(row, f"paths[{number}]"), _read_swaps(row, f"paths[{number}]"))
        for number, row in enumerate(_read_list(document, "paths", "paths"))
    )
    found = Answer(
        swaps=_read_swaps(document, ""), paths=paths, claimed=None if claimed is None else _units(claimed, "claimed")
    )
    if len(found.swaps) + sum(len(path) for _, path in paths) > MOST_SWAPS:
        raise BadAnswer(f"there are more than {MOST_SWAPS:,} swaps")
    if any(not path for _, path in paths):
        raise BadAnswer("a path has no swaps")
    return found


def _read_swaps(document: object, where: str) -> tuple[Swap, ...]:
    swaps = []
    for number, row in enumerate(_read_list(document, "swaps", f"{where}.swaps".lstrip("."))):
        here = f"{where}.swaps[{number}]".lstrip(".")
        if not isinstance(row, Mapping):
            raise BadAnswer(f"{here}: expected an object, not {_show(row)}")
        names = {name: _read_text(row, name, here) for name in ("market", "token_in", "token_out")}
        swaps.append(Swap(**names, amount=_read_amount(row, here)))
    return tuple(swaps)


def _read_list(document: object, name: str, where: str) -> list[Any]:
    if not isinstance(document, Mapping):
        raise BadAnswer(f"{where}: expected an object, not {_show(document)}")
    found = document.get(name, [])
    if not isinstance(found, list | tuple):
        raise BadAnswer(f"{where}: expected a list, not {_show(found)}")
    if len(found) > MOST_SWAPS:
        raise BadAnswer(f"{where}: there are more than {MOST_SWAPS:,}")
    return list(found)


def _read_text(row: Mapping[str, Any], name: str, where: str) -> str:
    found = row.get(name)
    if not isinstance(found, str) or not found:
        raise BadAnswer(f"{where}.{name}: expected a text, not {_show(found)}")
    return found


def _read_amount(row: Mapping[str, Any], where: str) -> int | None:
    found = row.get("amount") if isinstance(row, Mapping) else None
    return None if found is None else _units(found, f"{where}.amount")


def _units(value: object, where: str) -> int:
    found = value if isinstance(value, int) and not isinstance(value, bool) else -1
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS:
        found = int(value)
    if 0 <= found <= UNLIMITED:
        return found
    raise BadAnswer(f"{where}: expected digits of smallest units, not {_show(value)}")


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"

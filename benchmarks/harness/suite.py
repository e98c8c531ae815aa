"""What is asked: markets, and groups of requests on each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from routing_engine import RouteRequest, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What somebody else is known to have got for a request.

    Parameters
    ----------
    net : int
        Smallest units after gas.
    gas_value : float or None
        What a unit of gas was worth to them, in the token bought; None where it is as in the request.
    """

    net: int
    gas_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request.

    Parameters
    ----------
    request : RouteRequest
        With gas prices of every chain that it counts gas on.
    known : mapping of str to Known
        What others are known to have got.
    """

    request: RouteRequest
    known: Mapping[str, Known] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return what is asked, as JSON has it."""
        request = self.request
        return {
            "token_in": request.token_in.key,
            "token_out": request.token_out.key,
            "amount": str(request.amount),
            "side": str(request.side),
            "max_hops": request.max_hops,
            "gas_prices": {str(chain): str(price) for chain, price in sorted((request.gas_prices or {}).items())},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Requests on one market of which figures are given together.

    Parameters
    ----------
    name : str
        As reports show it; unique in a suite.
    cases : tuple of Case
        In the order in which they are asked.
    left_out : int
        Requests of the source whose tokens the market does not have.
    """

    name: str
    cases: tuple[Case, ...]
    left_out: int = 0

    @property
    def hash(self) -> str:
        """Content hash of the requests: equal for equal questions."""
        text = json.dumps([case.document() for case in self.cases], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """A market, and what is asked on it.

    Parameters
    ----------
    name, source : str
        What it is; where it is from: ``generated``, ``recorded`` or ``file``.
    snapshot : Snapshot
        Its id is the market's hash.
    groups : tuple of Group
        At least one.
    grows : bool
        Whether it is one of several sizes of the same, of which growth is told.
    """

    name: str
    source: str
    snapshot: Snapshot
    groups: tuple[Group, ...]
    grows: bool = False


def thin(arena: Arena, most: int) -> Arena:
    """Return the arena with at most so many requests of each group, taken evenly."""
    groups = []
    for group in arena.groups:
        count = min(most, len(group.cases))
        kept = tuple(group.cases[number * len(group.cases) // count] for number in range(count)) if count else ()
        groups.append(replace(group, cases=kept))
    return replace(arena, groups=tuple(groups))

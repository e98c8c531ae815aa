"""What a caller asks of the router, and what it gets back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex, Unpack

from routing_engine.errors import (
    InvalidRequest,
)
from routing_engine.model import Token
from routing_engine.objective import OBJECTIVES, Objective, OrderName
from routing_engine.request_fields import (
    READERS,
    FieldReader,
    RequestOptions,
    name_options,
    read_count,
    read_optional_count,
    show,
)
from routing_engine.route import Side, SideName
from routing_engine.values import seal

MAX_HOPS, DEFAULT_MAX_HOPS, USUAL_HOPS = 6, 5, 4
"""Hops of a path; the last are those of paths that splits are made of first: longer ones rarely earn their gas."""
MAX_SPLITS = 100
MAX_ALTERNATIVES = 5
DEFAULT_BUDGET_MS = 30_000
MAX_BUDGET_MS, MAX_WORK = 600_000, 1_000_000

_READERS: Mapping[str, FieldReader] = {
    **READERS,
    "max_hops": partial(read_count, low=1, high=MAX_HOPS),
    "max_splits": partial(read_count, low=1, high=MAX_SPLITS),
    "alternatives": partial(read_count, low=0, high=MAX_ALTERNATIVES),
    "time_budget_ms": partial(read_optional_count, low=1, high=MAX_BUDGET_MS),
    "work_budget": partial(read_optional_count, low=1, high=MAX_WORK),
}


@name_options
@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """Sell `amount` of one token for another, or buy it.

    Parameters
    ----------
    token_in, token_out : Token, or str where it is made
        From and to; may lie on different chains. A name, ``WETH@1`` or ``0x…@1``, is looked up by the router that is
        asked; the request of its result holds the token.
    amount : int
        Smallest units of `token_in` for ``exact_in``, of `token_out` for ``exact_out``. Kept as a plain int.
    side : {"exact_in", "exact_out"} or Side
        Which amount is fixed.
    order : {"cheapest", "fastest", "balanced"}
        What is best: see `objective`.
    value_of_time : float, optional
        What an hour of waiting is worth, in bps of the amount, 0 to 10,000; instead of the order's own. The order
        ``fastest`` takes none: time comes first there.
    max_hops : int
        Markets in series, 1 to 6. A split's paths have up to four at first. Longer ones are looked for where the best
        single path is longer, and where several paths share the amount; the certificate says how many it speaks of.
        Where paths share markets, `Route.paths` takes the merged flows apart again, and may show longer ones.
    max_splits : int
        Parallel paths that may be used, 1 to 100. More than one are used where their net output is larger. Where they
        share markets, `Route.paths` takes the merged flows apart again, and may list a few more.
    alternatives : int
        How many further routes to return if there are so many, 0 to 5: the best single path, where the best route is
        divided, and others that each avoid a market of that path.
    max_price_impact_bps : float, optional
        Routes that lose more to the amount's own size are left out; 0 to 10,000. With 0 only routes whose price does
        not depend on the amount are left.
        It is asked of the routes that were found, and not while they are looked for: where mispriced pools of dust
        give most, these are refused, and fewer `max_hops` may find others.
    allow_protocols : collection of str, optional
        Use only these, at least one; kept as a frozenset.
    deny_protocols : collection of str
        Never use these; kept as a frozenset.
    allow_chains : collection of int, optional
        Use markets on these chains only, bridges between them among these; kept as a frozenset. The tokens' own must be
        among them.
    deny_chains : collection of int
        Never pass through these; kept as a frozenset. Single markets are left out by `Router.find_routes`,
        which takes their ids as `without`; so is a token, by the ids of all markets that have it.
    gas_prices : mapping of int to int, optional
        Wei per gas unit by chain id; overrides the snapshot's.
    time_budget_ms : int, optional
        When it is spent, the best that was found until then is the answer; 1 to 600,000. Searches do as much work as
        should fit into it, so it is kept to within a few tens of milliseconds on a machine that has the time for it.
        With None no clock is read.
    work_budget : int, optional
        The same, counted in what searches do instead of time, and looked at inside them too: the answer is the same on
        every machine. A unit is about a millisecond of one core, 1 to 1,000,000. No limit by default.
    certify : bool
        Whether to prove how far the answer can be from the best. That takes two thirds of the time of a single path.

    Raises
    ------
    InvalidRequest
        Naming the field, when a value is out of bounds, or the option that is none.
    """

    token_in: Token
    token_out: Token
    amount: int
    side: Side | SideName = "exact_in"
    order: OrderName = "cheapest"
    max_hops: int = DEFAULT_MAX_HOPS
    max_splits: int = MAX_SPLITS
    alternatives: int = 0
    value_of_time: float | None = None
    max_price_impact_bps: float | None = None
    allow_protocols: frozenset[str] | None = None
    deny_protocols: frozenset[str] = frozenset()
    allow_chains: frozenset[int] | None = None
    deny_chains: frozenset[int] = frozenset()
    gas_prices: Mapping[int, int] | None = None
    time_budget_ms: int | None = DEFAULT_BUDGET_MS
    work_budget: int | None = None
    certify: bool = True

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            token_in: Token | str,
            token_out: Token | str,
            amount: SupportsIndex,
            **options: Unpack[RequestOptions],
        ) -> None: ...

    def __post_init__(self) -> None:
        for field, read, default in _READS:
            given = getattr(self, field)
            if given is not default:
                value = read(field, given)
                if value is not given:
                    object.__setattr__(self, field, value)
        if self.token_in == self.token_out:
            raise InvalidRequest("token_out", f"is the same token as token_in ({self.token_in}); choose another")
        if self.side not in tuple(Side):
            raise InvalidRequest("side", f"must be 'exact_in' or 'exact_out', not {show(self.side)}")
        if self.order not in tuple(OBJECTIVES):
            raise InvalidRequest("order", f"must be one of {', '.join(OBJECTIVES)}, not {show(self.order)}")
        if self.allow_chains is not None or self.deny_chains:
            self._check_chains()
        if self.value_of_time is not None and OBJECTIVES[self.order].time_first:
            raise InvalidRequest("value_of_time", f"has no meaning where time comes first; order is {self.order!r}")

    def _check_chains(self) -> None:
        """Refuse to leave out a chain that the request itself is about."""
        for name, token in (("token_in", self.token_in), ("token_out", self.token_out)):
            if isinstance(token, Token) and not self.admits_chain(token.chain_id):
                field = "deny_chains" if token.chain_id in self.deny_chains else "allow_chains"
                raise InvalidRequest(field, f"leaves out chain {token.chain_id}, where {name} ({token}) is")

    def admits_chain(self, chain_id: int) -> bool:
        """Whether a route may pass through a chain."""
        return (self.allow_chains is None or chain_id in self.allow_chains) and chain_id not in self.deny_chains

    @property
    def objective(self) -> Objective:
        """How net amount and time weigh against each other."""
        objective = OBJECTIVES[self.order]
        return objective if self.value_of_time is None else objective.at_rate(self.value_of_time)


_DEFAULTS = {field.name: field.default for field in fields(RouteRequest)}

_READS = [(name, read, _DEFAULTS[name]) for name, read in _READERS.items()]
"""Fields, what reads them, and their defaults, which need no check."""

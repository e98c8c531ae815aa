"""What a field of a request may hold, whatever the market. Each function raises `InvalidRequest` for the field.

Integers of numpy become those of Python, and any collection of names a frozenset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from functools import update_wrapper
from numbers import Real
from operator import index
from typing import Any, TypeAlias, TypedDict, TypeVar

from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.market import UNLIMITED
from routing_engine.model import Token
from routing_engine.objective import OrderName
from routing_engine.route import Side, SideName

C = TypeVar("C", bound=type)

MAX_SHOWN = 80
"""Characters of a wrong value in an error."""

FieldReader: TypeAlias = Callable[[str, Any], object]
"""Takes a field's name and what a caller put there; returns what the request holds."""


class RequestOptions(TypedDict, total=False):
    """The fields of `RouteRequest` that have defaults."""

    side: Side | SideName
    order: OrderName
    max_hops: int
    max_splits: int
    alternatives: int
    value_of_time: float | None
    max_price_impact_bps: float | None
    allow_protocols: Collection[str] | None
    deny_protocols: Collection[str]
    allow_chains: Collection[int] | None
    deny_chains: Collection[int]
    gas_prices: Mapping[int, int] | None
    time_budget_ms: int | None
    work_budget: int | None
    certify: bool


def name_options(kind: C) -> C:
    """Refuse options that a class does not have by `InvalidRequest`, which names the nearest that it has."""
    known = frozenset(kind.__slots__)  # type: ignore[attr-defined]

    fill: Callable[..., None] = vars(kind)["__init__"]

    def initialise(self: object, *args: object, **given: object) -> None:
        try:
            fill(self, *args, **given)
        except TypeError:
            for name in sorted(given.keys() - known):
                near = get_close_matches(name, known) or sorted(known)
                message = f"is no option of {kind.__name__}; choose from {', '.join(near)}"
                raise InvalidRequest(name, message) from None
            raise

    kind.__init__ = update_wrapper(initialise, fill)  # type: ignore[misc]
    return kind


def show(value: object) -> str:
    """Return what a value looks like, cut short."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def read_integer(value: Any) -> int | None:
    """Return an integer, of numpy or not, as a plain one; None for what is none, as true and false are."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def read_amount(field: str, amount: object) -> int:
    """Return an amount: a number of smallest units that some contract could be given."""
    units = read_integer(amount)
    if units is None:
        several = hasattr(amount, "__len__") and not isinstance(amount, str | bytes)
        maker = "round_units([0.1, 1.5])" if several else "units('1.5')"
        remedy = f"of whole tokens token.{maker} makes them"
        raise InvalidRequest(field, f"must be an int in smallest units, not {show(amount)}; {remedy}")
    if not 1 <= units <= UNLIMITED:
        raise InvalidRequest(field, f"must be from 1 to 2**256 - 1 smallest units, not {show(units)}")
    return units


def read_token(field: str, token: object) -> Token | str:
    """Return a token, or the name of one."""
    if not isinstance(token, Token | str):
        raise InvalidRequest(field, f"must be a Token, or a name such as 'WETH@1', not {show(token)}")
    return token


def read_names(field: str, names: Any) -> frozenset[str]:
    """Return names of protocols."""
    if isinstance(names, frozenset) and not names:
        return names
    is_collection = isinstance(names, Collection) and not isinstance(names, str | bytes)
    if not is_collection or not all(isinstance(name, str) for name in names):
        raise InvalidRequest(field, f"must be a collection of names, such as {{'uniswap_v3'}}, not {show(names)}")
    return frozenset(names)


def read_optional_names(field: str, names: object) -> frozenset[str] | None:
    """Return names of protocols, at least one, if it is given."""
    if names is None:
        return None
    found = read_names(field, names)
    if not found:
        raise InvalidRequest(field, "is empty, so no market could be used; leave it out, or give None, to allow all")
    return found


def read_chains(field: str, chains: Any) -> frozenset[int]:
    """Return ids of chains."""
    if isinstance(chains, frozenset) and not chains:
        return chains
    found = (
        [*map(read_integer, chains)]
        if isinstance(chains, Collection) and not isinstance(chains, str | bytes)
        else [None]
    )
    if None in found:
        raise InvalidRequest(field, f"must be a collection of chain ids, such as {{1, 8453}}, not {show(chains)}")
    return frozenset(filter(None, found))


def read_optional_chains(field: str, chains: object) -> frozenset[int] | None:
    """Return ids of chains, at least one, if it is given."""
    if chains is None:
        return None
    found = read_chains(field, chains)
    if not found:
        raise InvalidRequest(field, "is empty, so no market could be used; leave it out, or give None, to allow all")
    return found


def read_gas_prices(field: str, prices: object) -> dict[int, int] | None:
    """Return wei by chain id, if any."""
    if prices is None:
        return None
    if not isinstance(prices, Mapping):
        raise InvalidRequest(field, f"must be wei by chain id, such as {{1: 10**10}}, not {show(prices)}")
    found = {}
    for chain, price in prices.items():
        chain_id, wei = read_integer(chain), read_integer(price)
        if chain_id is None:
            raise InvalidRequest(field, f"chain ids must be ints, such as {{1: 10**10}}, not {show(chain)}")
        if wei is None or wei < 0:
            raise InvalidRequest(field, f"chain {chain_id}: wei must be an int of at least 0, not {show(price)}")
        found[chain_id] = wei
    return found


def read_optional_bps(field: str, value: Any) -> float | None:
    """Return a number of basis points, if any."""
    if value is None:
        return None
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= BPS:
        raise InvalidRequest(field, f"must be a number of bps from 0 to {BPS:,}, not {show(value)}")
    return value if isinstance(value, int | float) else float(value)


def read_flag(field: str, value: object) -> bool:
    """Return true or false, and nothing that merely counts as one."""
    if not isinstance(value, bool):
        raise InvalidRequest(field, f"must be True or False, not {show(value)}")
    return value


def read_count(field: str, value: object, low: int, high: int) -> int:
    """Return an integer within bounds, both included."""
    count = read_integer(value)
    if count is None or not low <= count <= high:
        raise InvalidRequest(field, f"must be an int from {low} to {high}, not {show(value)}")
    return count


def read_optional_count(field: str, value: object, low: int, high: int) -> int | None:
    """Return an integer within bounds, both included, if there is one."""
    return None if value is None else read_count(field, value, low, high)


READERS: Mapping[str, FieldReader] = {
    "amount": read_amount,
    "token_in": read_token,
    "token_out": read_token,
    "value_of_time": read_optional_bps,
    "max_price_impact_bps": read_optional_bps,
    "allow_protocols": read_optional_names,
    "deny_protocols": read_names,
    "allow_chains": read_optional_chains,
    "deny_chains": read_chains,
    "gas_prices": read_gas_prices,
    "certify": read_flag,
}
"""What reads the fields of a request, but counts, whose bounds stand beside the request."""

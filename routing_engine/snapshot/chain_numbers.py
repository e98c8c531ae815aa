"""Numbers by chain, gas prices and blocks, and the time they are of, as a caller gives them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from operator import index
from types import MappingProxyType
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.formats.contents import NO_MOMENT, is_moment
from routing_engine.market import Market
from routing_engine.reference.chains import CHAINS


def read_chain_numbers(field: str, numbers: Mapping[int, int] | None) -> Mapping[int, int]:
    """Return whole numbers of at least 0 by chain id, which nobody can change.

    Raises
    ------
    InvalidMarket
        If a chain id is not a positive int, or a number not an int of at least 0; it names the field.
    """
    if not isinstance(numbers, Mapping | None):
        raise InvalidMarket(field, f"must be numbers by chain id, such as {{1: 10**10}}, not {numbers!r}")
    return MappingProxyType({_read_chain(field, chain): _read(field, chain, n) for chain, n in (numbers or {}).items()})


def read_new_gas_prices(
    given: Mapping[int, int] | None, present: Mapping[int, int], markets: Iterable[Market]
) -> Mapping[int, int]:
    """Return gas prices as `read_chain_numbers` does, and warn of chains that can't be meant.

    A price may come before its chain's markets do, so one of a known chain is silent.
    """
    prices = read_chain_numbers("gas_prices", given)
    if unknown := prices.keys() - present.keys() - CHAINS.keys():
        served = {token.chain_id for market in markets for token in market.tokens}
        if served and (lost := sorted(unknown - served)):
            message = f"gas_prices: no market is on chain {lost[0]}, so nothing costs this; there are markets on"
            warnings.warn(f"{message} {', '.join(map(str, sorted(served)))}", RuntimeWarning, stacklevel=3)
    return prices


def read_moment(taken_at: object) -> str:
    """Return an ISO 8601 time, or nothing where none is known.

    Raises
    ------
    InvalidMarket
        If it is something else.
    """
    if not isinstance(taken_at, str) or not is_moment(taken_at):
        raise InvalidMarket("taken_at", f"{NO_MOMENT}, not {str(taken_at)[:40]!r}")
    return taken_at


def _read_chain(field: str, chain: Any) -> int:
    if isinstance(chain, bool) or not hasattr(chain, "__index__") or index(chain) <= 0:
        raise InvalidMarket(field, f"chain ids must be positive ints, such as {{1: 10**10}}, not {chain!r}")
    return index(chain)


def _read(field: str, chain: Any, number: Any) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or index(number) < 0:
        raise InvalidMarket(field, f"chain {chain}: must be an int of at least 0, not {number!r}")
    return index(number)

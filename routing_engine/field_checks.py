"""What a field of a request may hold, whatever the market; each check raises `InvalidRequest` for the field."""

from __future__ import annotations

from collections.abc import Mapping, Set

from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.model import UNLIMITED, Token


def check_amount(field: str, amount: object) -> None:
    """Check that an amount is a number of smallest units that some contract could be given."""
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise InvalidRequest(field, f"expected an int in smallest units, got {type(amount).__name__}")
    if not 1 <= amount <= UNLIMITED:
        raise InvalidRequest(field, "must be from 1 to 2**256 - 1 smallest units")


def check_token(field: str, token: object) -> None:
    """Check that a token is one, or a name."""
    if not isinstance(token, Token | str):
        kind = type(token).__name__
        raise InvalidRequest(field, f"expected a Token, or a name such as 'WETH@1', got {kind}")


def check_names(field: str, names: object) -> None:
    """Check that names of protocols are a set of texts; only those that are allowed may be left out."""
    if names is None and field == "allow_protocols":
        return
    if not isinstance(names, Set) or not all(isinstance(name, str) for name in names):
        raise InvalidRequest(field, f"expected a set of names, such as {{'uniswap_v3'}}, not {names!r}")


def check_gas_prices(prices: object) -> None:
    """Check that gas prices, if any, are wei by chain id."""
    if prices is None:
        return
    if not isinstance(prices, Mapping):
        raise InvalidRequest("gas_prices", f"expected wei by chain id, such as {{1: 10**10}}, not {prices!r}")
    for chain_id, price in prices.items():
        if isinstance(chain_id, bool) or not isinstance(chain_id, int):
            raise InvalidRequest("gas_prices", f"expected chain ids as ints, such as {{1: 10**10}}, not {chain_id!r}")
        if isinstance(price, bool) or not isinstance(price, int) or price < 0:
            raise InvalidRequest("gas_prices", f"chain {chain_id}: expected wei as an int of at least 0, not {price!r}")


def check_bps(field: str, value: object) -> None:
    """Check that a value is a number of basis points."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= BPS:
        raise InvalidRequest(field, f"must be a number of bps from 0 to {BPS:,}, not {value!r}")


def check_count(field: str, value: object, low: int, high: int) -> None:
    """Check that a value is an integer within bounds, both included."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidRequest(field, f"must be an int from {low} to {high}, not {value!r}")

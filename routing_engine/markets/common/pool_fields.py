"""Fields that pools of all types share."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from routing_engine.errors import InvalidMarket, InvalidRequest
from routing_engine.fixed_point import PIPS
from routing_engine.markets.common.record import read, read_int, to_int
from routing_engine.model import MAX_DECIMALS, NATIVE_ADDRESS, ZERO_ADDRESS, Token
from routing_engine.reference.chains import CHAINS
from routing_engine.token_fields import Transfers, read_address

Pool = Mapping[str, Any]

SCALED_DECIMALS = 18
"""Decimals to which many contracts bring balances; they multiply only, so they take no token of more."""

OWN_DECIMALS = 18
"""Decimals of a Balancer pool's own token: ``BalancerPoolToken`` fixes them, so a source may leave them out."""


class PoolRefused(Exception):
    """One pool is left out; the text is the reason it is counted under."""


def read_tokens(pool: Pool) -> list[Token]:
    """Return the pool's tokens, the zero address standing for the native coin.

    Raises
    ------
    PoolRefused
        If a token's decimals are unknown or impossible, or a token stands there twice.
    """
    rows = read(pool, "tokens")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidMarket("tokens", "expected a list of objects")
    own = str(pool.get("address") or "").lower()
    found = []
    for number, row in enumerate(rows):
        address = _read_address(row, f"tokens.{number}.address")
        address = NATIVE_ADDRESS if address == ZERO_ADDRESS else address
        decimals = _read_decimals(row, f"tokens.{number}.decimals", is_own=address == own)
        chain_id = read_int(pool, "chain_id")
        symbol = _read_symbol(row, chain_id, address)
        transfers = _read_transfers(row)
        token = Token(chain_id=chain_id, address=address, symbol=symbol, decimals=decimals, transfers=transfers)
        found.append(token)
    if len(set(found)) < max(2, len(found)):
        raise PoolRefused("tokens_not_distinct")
    return found


def _read_address(row: Mapping[str, Any], field: str) -> str:
    try:
        return read_address(row.get("address"))
    except InvalidRequest as error:
        raise InvalidMarket(field, error.message) from error


def _read_decimals(row: Mapping[str, Any], field: str, *, is_own: bool) -> int:
    if row.get("decimals") is None:
        if is_own:
            return OWN_DECIMALS
        raise PoolRefused("unknown_decimals")
    decimals = to_int(row["decimals"], field)
    if not 0 <= decimals <= MAX_DECIMALS:
        raise PoolRefused("decimals_out_of_range")
    return decimals


def _read_transfers(row: Mapping[str, Any]) -> Transfers:
    if row.get("tax_bps"):
        return Transfers.FEE_ON_TRANSFER
    return Transfers.REBASING if row.get("rebasing") else Transfers.EXACT


def _read_symbol(row: Mapping[str, Any], chain_id: int, address: str) -> str:
    """Return the symbol, or that of the native coin where only its address stands there."""
    symbol = str(row.get("symbol") or address)
    unnamed = symbol.lower() in (NATIVE_ADDRESS, ZERO_ADDRESS)
    return CHAINS[chain_id].native_currency.symbol if unnamed and chain_id in CHAINS else symbol


def require_two(tokens: list[Token]) -> tuple[Token, Token]:
    """Return the tokens of a pair."""
    if len(tokens) != 2:
        raise PoolRefused("not_two_tokens")
    return tokens[0], tokens[1]


def refuse_many_decimals(tokens: list[Token]) -> None:
    """Refuse tokens of more than 18 decimals, for kinds whose contracts take none."""
    if any(token.decimals > SCALED_DECIMALS for token in tokens):
        raise PoolRefused("decimals_out_of_range")


def read_reserves(pool: Pool, count: int) -> list[int]:
    """Return `count` reserves in smallest units, none of them zero."""
    reserves = read(pool, "reserves")
    if not isinstance(reserves, list) or len(reserves) != count:
        raise InvalidMarket("reserves", f"expected {count} digit strings")
    amounts = [to_int(value, f"reserves.{number}") for number, value in enumerate(reserves)]
    if min(amounts) <= 0:
        raise PoolRefused("empty")
    return amounts


def read_fee(pool: Pool, scale: int) -> int:
    """Return the fee, a decimal fraction, as an exact integer count of 1 / `scale`.

    Raises
    ------
    PoolRefused
        If it is unknown, not below 1, or finer than the scale.
    """
    if pool.get("fee") is None:
        raise PoolRefused("fee_unknown")
    try:
        fee = Decimal(str(pool["fee"])) * scale
    except InvalidOperation:
        raise InvalidMarket("fee", f"expected a decimal fraction, not {pool['fee']!r}") from None
    if not fee.is_finite() or not 0 <= fee < scale or fee != int(fee):
        raise PoolRefused("fee_out_of_range")
    return int(fee)


def read_fee_pips(pool: Pool) -> int:
    """Return the fee in pips."""
    return read_fee(pool, PIPS)


def squeeze(name: str) -> str:
    """Return a name's letters and digits in lower case, for comparisons."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def name_protocol(pool: Pool, default: str) -> str:
    """Name a protocol the way requests allow and deny it: lower case, words joined by underscores."""
    return "_".join(str(pool.get("protocol") or default).lower().replace("-", " ").split())

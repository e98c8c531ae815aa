"""The library's own market format: one record per market, tokens listed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.errors import BadMarketFile, InvalidMarket, InvalidRequest
from routing_engine.extensions import describe_error
from routing_engine.formats.contents import NO_MOMENT, Contents, is_moment
from routing_engine.market import Market
from routing_engine.markets import describe_kind, market_from_record
from routing_engine.markets.common.record import require
from routing_engine.model import MAX_DECIMALS, Token
from routing_engine.token_fields import Transfers

FORMAT = "routing-engine-snapshot"
VERSION = 1

TRANSFERS_COLUMN: tuple[list[str], ...] = ([], *([kind.value] for kind in Transfers))
"""What may follow a token's decimals: nothing where its transfers are exact."""


def build_document(contents: Contents) -> dict[str, Any]:
    """Return the JSON document of a snapshot's contents."""
    tokens = {token.key: token for market in contents.markets for token in market.tokens}
    return {
        "format": FORMAT,
        "version": VERSION,
        "taken_at": contents.taken_at,
        "blocks": {str(chain_id): block for chain_id, block in contents.blocks.items()},
        "gas_prices": {str(chain_id): str(price) for chain_id, price in contents.gas_prices.items()},
        "refused": dict(contents.refused),
        "tokens": [_token_row(token) for token in tokens.values()],
        "markets": [market.to_record() for market in contents.markets],
    }


def parse(document: Mapping[str, Any], path: str) -> Contents:
    """Inverse of `build_document`.

    Raises
    ------
    BadMarketFile
        Naming the field that is missing or wrong.
    """
    if document.get("version") != VERSION:
        raise BadMarketFile(path, "version", f"is {document.get('version')!r}; this library reads version {VERSION}")
    tokens = read_tokens(document, path)
    markets: dict[str, Market] = {}
    for number, record in enumerate(_field(document, "markets", list, path)):
        try:
            market = market_from_record(record, tokens)
            require(market.id not in markets, "id", f"{market.id!r} stands there already; give each market its own")
            markets[market.id] = market
        except InvalidMarket as error:
            raise BadMarketFile(path, f"markets.{number}.{error.field}", error.message) from error
        except Exception as error:
            raise BadMarketFile(path, f"markets.{number}", _say_failed(record, error)) from error
    taken_at = _field(document, "taken_at", str, path)
    if not is_moment(taken_at):
        raise BadMarketFile(path, "taken_at", f"{NO_MOMENT}, not {taken_at[:40]!r}")
    return Contents(
        markets=tuple(markets.values()),
        refused=_field(document, "refused", dict, path),
        blocks=_int_map(document, "blocks", path),
        gas_prices=_int_map(document, "gas_prices", path),
        taken_at=taken_at,
    )


def _say_failed(record: Any, error: Exception) -> str:
    """Say why a record cannot be read where not even its kind says so."""
    if not isinstance(record, dict):
        return f"is not a market record: {describe_error(error)}"
    return f"cannot be read: the kind {describe_kind(record['kind'])} fails with {describe_error(error)}"


def _token_row(token: Token) -> list[int | str]:
    row: list[int | str] = [token.chain_id, token.address, token.symbol, token.decimals]
    return row if token.transfers is Transfers.EXACT else [*row, token.transfers.value]


def read_tokens(document: Mapping[str, Any], path: str) -> dict[str, Token]:
    """Return the tokens of a document by their keys as the file writes them; raises as `parse`."""
    found: dict[str, Token] = {}
    seen: dict[Token, Token] = {}
    for number, row in enumerate(_field(document, "tokens", list, path)):
        match row:
            case [int(chain_id), str(address), str(symbol), int(decimals), *rest] if (
                0 <= decimals <= MAX_DECIMALS and rest in TRANSFERS_COLUMN
            ):
                transfers = Transfers(rest[0]) if rest else Transfers.EXACT
            case _:
                message = f"expected [chain id, address, symbol, decimals up to {MAX_DECIMALS}] and how it transfers"
                raise BadMarketFile(path, f"tokens.{number}", message)
        try:
            token = Token(chain_id=chain_id, address=address, symbol=symbol, decimals=decimals, transfers=transfers)
        except InvalidRequest as error:
            raise BadMarketFile(path, f"tokens.{number}.{error.field}", error.message) from error
        known = seen.setdefault(token, token)
        if known.decimals != decimals:
            message = f"gives {token.key} {decimals} decimals, and a row before it {known.decimals}; list it once"
            raise BadMarketFile(path, f"tokens.{number}", message)
        found[f"{address}@{chain_id}"] = token
    return found


def _field(document: Mapping[str, Any], name: str, kind: type, path: str) -> Any:
    if name not in document:
        raise BadMarketFile(path, name, "is missing; is the file truncated?")
    if not isinstance(document[name], kind):
        raise BadMarketFile(path, name, f"expected {kind.__name__}, got {type(document[name]).__name__}")
    return document[name]


def _int_map(document: Mapping[str, Any], name: str, path: str) -> dict[int, int]:
    try:
        found = {int(key): int(str(value)) for key, value in _field(document, name, dict, path).items()}
    except ValueError as error:
        raise BadMarketFile(path, name, "expected a map from chain ids to integers") from error
    if any(key <= 0 or value < 0 for key, value in found.items()):
        raise BadMarketFile(path, name, "expected positive chain ids, and integers of at least 0")
    return found

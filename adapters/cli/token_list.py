"""Which tokens to look for: the library's own list, or a file in the format of public token lists."""

from __future__ import annotations

from pathlib import Path

from adapters.base import BadPayload
from adapters.feed.connect import list_tokens
from adapters.http.json_fields import Field
from routing_engine.errors import BadMarketFile, InvalidRequest
from routing_engine.formats.files import read_json
from routing_engine.model import MAX_DECIMALS, Token

MOST_TOKENS = 20_000
LONGEST_SYMBOL = 32


def load_tokens(path: Path | None) -> tuple[Token, ...]:
    """Return the tokens of a file, or those of the library where there is none.

    Parameters
    ----------
    path : Path or None
        JSON with a list ``tokens`` of objects with ``chainId``, ``address``, ``symbol`` and ``decimals``, as wallets
        and exchanges publish it.

    Raises
    ------
    InvalidRequest
        Naming the entry that is wrong.
    """
    if path is None:
        return list_tokens()
    try:
        rows = Field(read_json(path), str(path)).get("tokens").read_items(MOST_TOKENS)
        return tuple(_parse_token(row) for row in rows)
    except (BadMarketFile, BadPayload) as error:
        raise InvalidRequest("--tokens", str(error)) from error


def _parse_token(row: Field) -> Token:
    return Token(
        chain_id=row.get("chainId").read_integer(1, 2**63 - 1),
        address=row.get("address").read_contract(),
        symbol=row.get("symbol").read_text(LONGEST_SYMBOL),
        decimals=row.get("decimals").read_integer(0, MAX_DECIMALS),
    )

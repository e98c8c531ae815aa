"""The list of tokens: the registry first, then what else the market trades."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from api.domain.errors import InvalidData
from api.services.resources import Resources
from api.services.routing.token_serializers import Asset, describe_chain
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from routing_engine.reference.token_table import TokenTable


PLACE = "\x00updated_at"
"""Stands where the moment will; no text of a token has it."""
MOMENT = json.dumps(PLACE)
KEPT_PAGES = 64
"""Pages of one market that are kept; what is asked for is the callers' choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPage:
    """One page as it is sent, and a tag that changes when what it lists does.

    Parameters
    ----------
    head, tail : str
        JSON before and after the moment of the market's last change, which comes more often than tokens do.
    """

    head: str
    tail: str
    etag: str

    @classmethod
    def of(cls, listed: Mapping[str, Any]) -> Self:
        """Write a page."""
        text = json.dumps(listed, separators=(",", ":"))
        head, _, tail = text.partition(MOMENT)
        return cls(head=head, tail=tail, etag=hashlib.blake2b(text.encode(), digest_size=16).hexdigest())

    def write(self, updated_at: str) -> bytes:
        """Return the body of an answer."""
        return f"{self.head}{json.dumps(updated_at)}{self.tail}".encode()


UNKNOWN_CURSOR = "Unknown; start again without it"


def list_tokens(
    resources: Resources, *, limit: int, cursor: str = "", search: str = "", chain_id: int = 0
) -> TokenPage:
    """Return the tokens that match, with the described chains.

    Parameters
    ----------
    limit : int
        At most so many.
    cursor : str
        Key of the last token of the page before; empty for the first page.
    search : str
        Part of a symbol or name, in any case, or an address.
    chain_id : int
        Only tokens of this chain; 0 for all.

    Raises
    ------
    InvalidData
        If no token has the key `cursor`.
    """
    snapshot = resources.market.snapshot
    pages, asked = _begin_pages(snapshot.tokens), (limit, cursor, search, chain_id)
    found = pages.get(asked)
    if found is None:
        found = _make_page(_list_assets(snapshot.tokens), limit, cursor, search, chain_id)
        if len(pages) < KEPT_PAGES:
            pages[asked] = found
    return found


@lru_cache(maxsize=1)
def _begin_pages(tokens: TokenTable) -> dict[tuple[int, str, str, int], TokenPage]:
    """Return where the pages of these tokens are kept; those of the tokens before are forgotten."""
    return {}


def _make_page(assets: tuple[Asset, ...], limit: int, cursor: str, search: str, chain_id: int) -> TokenPage:
    start = _skip_to(assets, cursor) if cursor else 0
    matching = [asset for asset in assets[start:] if _is_match(asset, search.casefold(), chain_id)]
    page = matching[:limit]
    listed = {
        "tokens": [asset.json() for asset in page],
        "chains": [describe_chain(chain) for chain in CHAINS.values()],
        "updated_at": PLACE,
        "next_cursor": page[-1].key if len(matching) > limit else None,
    }
    return TokenPage.of(listed)


@lru_cache(maxsize=1)
def _list_assets(tokens: TokenTable) -> tuple[Asset, ...]:
    """Return every listed asset, and each other token of the market on a described chain, by chain and address."""
    others = {
        token.key: Asset.of(token)
        for token in sorted(tokens, key=lambda token: (token.chain_id, token.address))
        if token.chain_id in CHAINS and token_registry.info_of(token.chain_id, token.address) is None
    }
    return (*(asset for info in token_registry.tokens() for asset in Asset.listed(info)), *others.values())


def is_listed(tokens: TokenTable, cursor: str) -> bool:
    """Return whether a page of the list can end with this key."""
    return any(asset.key == cursor for asset in _list_assets(tokens))


def _skip_to(assets: tuple[Asset, ...], cursor: str) -> int:
    for number, asset in enumerate(assets):
        if asset.key == cursor:
            return number + 1
    raise InvalidData.at("cursor", UNKNOWN_CURSOR)


def _is_match(asset: Asset, search: str, chain_id: int) -> bool:
    if chain_id and chain_id not in asset.addresses:
        return False
    return search in asset.symbol.casefold() or search in asset.name.casefold() or search in asset.addresses.values()

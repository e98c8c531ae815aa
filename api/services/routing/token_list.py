"""The list of tokens: the registry first, then what else the market trades."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from api.domain.clock import format_time
from api.domain.errors import InvalidData
from api.services.resources import Resources
from api.services.routing.token_serializers import Asset, describe_chain
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from routing_engine import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPage:
    """One page, and a tag that changes when what it lists does."""

    body: dict[str, Any]
    etag: str


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
    assets = _list_assets(resources.market.snapshot)
    start = _skip_to(assets, cursor) if cursor else 0
    matching = [asset for asset in assets[start:] if _is_match(asset, search.casefold(), chain_id)]
    page = matching[:limit]
    listed = {
        "tokens": [asset.json() for asset in page],
        "chains": [describe_chain(chain) for chain in CHAINS.values()],
        "next_cursor": page[-1].key if len(matching) > limit else None,
    }
    etag = hashlib.blake2b(json.dumps(listed).encode(), digest_size=16).hexdigest()
    return TokenPage(body=listed | {"updated_at": format_time(resources.market.updated_at)}, etag=etag)


@lru_cache(maxsize=1)
def _list_assets(snapshot: Snapshot) -> tuple[Asset, ...]:
    """Return every listed asset, and each other token of the market on a described chain, by chain and address."""
    others = {
        token.key: Asset.of(token)
        for token in sorted(snapshot.tokens, key=lambda token: (token.chain_id, token.address))
        if token.chain_id in CHAINS and token_registry.info_of(token.chain_id, token.address) is None
    }
    return (*(asset for info in token_registry.tokens() for asset in Asset.listed(info)), *others.values())


def _skip_to(assets: tuple[Asset, ...], cursor: str) -> int:
    for number, asset in enumerate(assets):
        if asset.key == cursor:
            return number + 1
    raise InvalidData.at("cursor", "Unknown; start again without it")


def _is_match(asset: Asset, search: str, chain_id: int) -> bool:
    if chain_id and chain_id not in asset.addresses:
        return False
    return search in asset.symbol.casefold() or search in asset.name.casefold() or search in asset.addresses.values()

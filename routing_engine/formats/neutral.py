"""The neutral format of recorded markets: ``{"meta": {…}, "pools": […]}``.

Amounts are digit strings, fees decimal fractions, one entry per pool with a `type` that says its mathematics. A pool
whose mathematics or state is not fully known is refused and counted by reason; a field that is damaged is an error.
A reader that breaks down takes only its pools with it, and a warning says whose it is.
The wrapping contracts of the chains met are added.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from routing_engine.errors import BadMarketFile, InvalidMarket
from routing_engine.extensions import describe_error
from routing_engine.formats.contents import Contents
from routing_engine.formats.screening import screen
from routing_engine.formats.wraps import find_wraps
from routing_engine.market import Market
from routing_engine.markets import describe_kind, kinds_by_type, pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.markets.common.record import read_text
from routing_engine.model import Token
from routing_engine.token_fields import Transfers

FAILED = "reader_failed"
"""Why a pool is left out whose reader breaks down, with its type."""


def parse(document: Mapping[str, Any], path: str, accept: Collection[Transfers] = ()) -> Contents:
    """Read a document of the neutral format; `accept` as `screen` says.

    Raises
    ------
    BadMarketFile
        If a field is missing or damaged, named like ``pools.17.reserves``.
    """
    meta = _meta(document, path)
    chain_id, block = meta.get("chain_id"), meta.get("block")
    blocks = {chain_id: block} if isinstance(chain_id, int) and isinstance(block, int) else {}
    pools = screen(_contents(document["pools"], "pools", path, blocks), accept)
    return replace(pools, markets=(*pools.markets, *find_wraps(pools.markets)))


def parse_deltas(document: Any, path: str, to_block: int | None, accept: Collection[Transfers] = ()) -> list[Contents]:
    """Read a file of block deltas; one `Contents` with the changed pools per block. `accept` as `screen` says.

    Raises
    ------
    BadMarketFile
        As `parse`; also when the file ends before `to_block`.
    """
    blocks = document.get("blocks") if isinstance(document, dict) else None
    if not isinstance(blocks, list):
        raise BadMarketFile(path, "blocks", "expected a list of {'block', 'changed'}; is this a file of deltas?")
    chain_id = _meta(document, path).get("chain_id", 1)
    if not isinstance(chain_id, int):
        raise BadMarketFile(path, "meta.chain_id", "expected an integer")
    found = []
    for number, entry in enumerate(blocks):
        field = f"blocks.{number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("block"), int):
            raise BadMarketFile(path, f"{field}.block", "expected an integer")
        if to_block is None or entry["block"] <= to_block:
            changed = _contents(entry.get("changed"), f"{field}.changed", path, {chain_id: entry["block"]})
            found.append(screen(changed, accept))
    if to_block is not None and (not found or found[-1].blocks[chain_id] < to_block):
        last = found[-1].blocks[chain_id] if found else None
        raise BadMarketFile(path, "blocks", f"ends before block {to_block} (last usable block: {last})")
    return found


def _meta(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    meta = document.get("meta") or {}
    if not isinstance(meta, dict):
        raise BadMarketFile(path, "meta", "expected an object")
    for name in ("chain_id", "block"):
        if not isinstance(meta.get(name), int | None):
            raise BadMarketFile(path, f"meta.{name}", f"expected an integer, not {meta[name]!r}")
    return meta


def _contents(pools: Any, field: str, path: str, blocks: Mapping[int, int]) -> Contents:
    if not isinstance(pools, list):
        raise BadMarketFile(path, field, "expected a list of pools")
    markets: dict[str, Market] = {}
    tokens: dict[Token, Token] = {}
    refused: Counter[str] = Counter()
    withdrawn = []
    for number, pool in enumerate(pools):
        try:
            market = _market(pool)
            if market.id in markets:
                raise PoolRefused("duplicate_id")
            _check_decimals(market, tokens)
            markets[market.id] = market
        except PoolRefused as reason:
            refused[str(reason)] += 1
            withdrawn.append(str(pool.get("id")))
        except InvalidMarket as error:
            place = f"{field}.{number}.{error.field}" if error.field else f"{field}.{number}"
            raise BadMarketFile(path, place, error.message) from error
        except _ReaderFailed as error:
            if f"{FAILED}:{error}" not in refused:
                warnings.warn(f"{path}: {field}.{number}: {error.describe()}", RuntimeWarning, stacklevel=2)
            refused[f"{FAILED}:{error}"] += 1
            withdrawn.append(str(pool.get("id")))
    return Contents(markets=tuple(markets.values()), refused=refused, withdrawn=tuple(withdrawn), blocks=blocks)


def _check_decimals(market: Market, tokens: dict[Token, Token]) -> None:
    """Refuse a market that gives a token other decimals than one before it, and add its tokens."""
    for token in market.tokens:
        known = tokens.setdefault(token, token)
        if known.decimals != token.decimals:
            message = f"gives {token.key} {token.decimals} decimals, and a pool before it gives {known.decimals}"
            raise InvalidMarket("tokens", f"{message}; give each pool the same")


def _market(pool: Any) -> Market:
    if not isinstance(pool, dict):
        raise InvalidMarket("", "expected an object that describes a pool")
    if pool.get("type") is None:
        raise PoolRefused("type_unknown")
    build = pool_readers().get(read_text(pool, "type"))
    if build is None:
        raise PoolRefused(f"unsupported_type:{pool['type']}")
    market_id, tokens = read_text(pool, "id"), read_tokens(pool)
    try:
        return build(pool, market_id, tokens)
    except (InvalidMarket, PoolRefused):
        raise
    except Exception as error:
        raise _ReaderFailed(pool["type"]) from error


class _ReaderFailed(Exception):
    """A reader raised what it may not; the text is the type of pools that it reads."""

    def describe(self) -> str:
        """Say whose reader it is, and what became of the pool."""
        kind, cause = describe_kind(kinds_by_type()[str(self)]), describe_error(self.__cause__ or self)
        return f"the pool is left out, as others of type {str(self)!r} may be: the kind {kind} fails with {cause}"

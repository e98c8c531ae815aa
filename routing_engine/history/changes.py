"""Markets of a block as what differs from those of the block before, and back.

Of a market that changed only the fields are written that are others now: of a concentrated pool that was traded on,
its price, tick and liquidity, and not its hundreds of ticks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.formats import Contents, native
from routing_engine.market import Market
from routing_engine.markets import market_from_record
from routing_engine.markets.common.base import BaseMarket
from routing_engine.markets.common.codecs import list_codecs
from routing_engine.model import Token
from routing_engine.snapshot.snapshot import Snapshot


def list_changes(before: Snapshot, after: Snapshot) -> tuple[list[Market], list[str]]:
    """Return the markets that are new or not what they were, and the ids of those that are gone."""
    olds = before.markets
    changed = [new for name, new in after.markets.items() if (old := olds.get(name)) is not new and old != new]
    return changed, [name for name in olds if name not in after.markets]


def describe_whole(snapshot: Snapshot) -> dict[str, Any]:
    """Return a document with all markets."""
    return {"market": native.build_document(snapshot.contents)}


def describe_changes(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """Return a document with what makes `after` of `before`."""
    changed, removed = list_changes(before, after)
    records = [_shorten(before.markets.get(market.id), market.to_record()) for market in changed]
    written = [market for market, record in zip(changed, records, strict=True) if "kind" in record]
    told = native.build_document(
        Contents(markets=tuple(written), blocks=after.blocks, gas_prices=after.gas_prices, taken_at=after.taken_at)
    )
    kept = {name: told[name] for name in ("taken_at", "blocks", "gas_prices", "tokens")}
    return {**kept, "changed": records, "removed": removed}


def read_whole(document: Mapping[str, Any], place: str) -> Snapshot:
    """Inverse of `describe_whole`; `place` stands for the file in errors, which are those of `native.parse`."""
    return Snapshot.of(native.parse(document["market"], place))


def apply_changes(document: Mapping[str, Any], before: Snapshot, place: str) -> Snapshot:
    """Inverse of `describe_changes`, or of `describe_whole` where all was written.

    Raises
    ------
    BadMarketFile, InvalidMarket
        If a field is missing or impossible.
    """
    if "market" in document:
        return read_whole(document, place)
    moment = native.parse({"version": native.VERSION, "refused": {}, **document, "markets": []}, place)
    added = native.read_tokens(document, place)
    changed = [_read_market(record, before, added) for record in document["changed"]]
    return before.apply(
        changed,
        removed=document["removed"],
        gas_prices=moment.gas_prices,
        blocks=moment.blocks,
        taken_at=moment.taken_at,
    )


def merge_changes(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one document of changes that does what several do one after the other; none of them has all markets.

    A market that changed in each is read once then, and not once for each.
    """
    changed: dict[str, Any] = {}
    removed: dict[str, None] = {}
    merged: dict[str, Any] = {"taken_at": "", "blocks": {}, "gas_prices": {}}
    for document in documents:
        for name in document["removed"]:
            removed[name] = None
            changed.pop(name, None)
        for record in document["changed"]:
            name = record["id"]
            changed[name] = record if "kind" in record else {**changed.get(name, {}), **record}
        for name in ("blocks", "gas_prices"):
            merged[name] = {**merged[name], **document[name]}
        merged["taken_at"] = document["taken_at"]
    tokens = [row for document in documents for row in document["tokens"]]
    return {**merged, "tokens": tokens, "changed": list(changed.values()), "removed": list(removed)}


def _shorten(old: Market | None, record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a market's record had before; what is left has no kind where it is a part."""
    if old is None:
        return record
    known = old.to_record()
    if known.keys() != record.keys() or known["kind"] != record["kind"]:
        return record
    return {"id": record["id"], **{name: value for name, value in record.items() if known[name] != value}}


def _read_market(record: Any, before: Snapshot, added: Mapping[str, Token]) -> Market:
    if not isinstance(record, dict):
        raise InvalidMarket("changed", f"expected an object for each market, not {str(record)[:40]!r}")
    if "kind" in record:
        return market_from_record(record, added)
    old = before.markets.get(record.get("id", ""))
    if old is None:
        raise InvalidMarket("changed", f"speaks of {record.get('id')!r}, which the block before does not have")
    return _amend(old, record, {token.key: token for token in old.tokens})


def _amend(old: Market, record: dict[str, Any], tokens: Mapping[str, Token]) -> Market:
    """Return a market with some fields of its record replaced; fields that stand there under their names are cheap."""
    codecs = dict(list_codecs(type(old))) if isinstance(old, BaseMarket) else {}
    if not record.keys() <= codecs.keys():
        return market_from_record({**old.to_record(), **record}, tokens)
    market: Any = replace(old, **{field: codecs[field].read(record, field, tokens) for field in record})  # type: ignore[type-var]
    market.validate()
    found: Market = market
    return found

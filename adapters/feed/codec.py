"""States as bytes: compact, versioned, and checked when they are read."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from adapters.base import BadPayload
from adapters.feed.state import MAX_SOURCES, SourceReport, State, read_reports, remove_gas_prices
from adapters.http.json_fields import Field
from routing_engine import BadMarketFile, Snapshot
from routing_engine.formats import Contents, native
from routing_engine.market import Market

MAGIC = b"checkout-market\x02"
"""Its last byte is the version."""
DIGEST_BYTES = 16
MAX_BYTES = 2**29
MAX_MARKETS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardHead:
    """What is newest.

    Parameters
    ----------
    number : int
        Of the last part written; parts count up.
    base : int
        Number of the whole that later parts change.
    snapshot_id : str
        Of the snapshot that they lead to.
    sources : tuple of SourceReport
        How the sources are doing.
    """

    number: int
    base: int
    snapshot_id: str
    sources: tuple[SourceReport, ...]


def pack_head(head: BoardHead) -> bytes:
    """Write a head."""
    sources = [source.to_record() for source in head.sources]
    return _seal({"number": head.number, "base": head.base, "id": head.snapshot_id, "sources": sources})


def unpack_head(sealed: bytes) -> BoardHead:
    """Read a head; raises `BadPayload`."""
    document = Field(_open(sealed, "head"), "head")
    return BoardHead(
        number=document.get("number").read_integer(0, 2**63),
        base=document.get("base").read_integer(0, 2**63),
        snapshot_id=document.get("id").read_text(),
        sources=read_reports(document.get("sources")),
    )


def pack_whole(state: State) -> bytes:
    """Write all of a state but its reports."""
    markets = tuple(state.snapshot.markets.values())
    return _seal({"to": state.snapshot.id, **_describe(state, markets)})


def pack_delta(state: State, last: State) -> bytes:
    """Write what makes `state` of `last`."""
    now, before = state.snapshot.markets, last.snapshot.markets
    changed = tuple(
        market
        for name, market in now.items()
        if before.get(name) is not market or state.owners.get(name) != last.owners.get(name)
    )
    removed = [name for name in before if name not in now]
    return _seal({"from": last.snapshot.id, "to": state.snapshot.id, "removed": removed, **_describe(state, changed)})


def unpack_whole(sealed: bytes) -> State:
    """Read a whole.

    Raises
    ------
    BadPayload
        If it is damaged, of another version, or its content has another id than it says.
    """
    document = Field(_open(sealed, "market"), "market")
    contents, owners = _read_contents(document)
    snapshot = Snapshot(
        contents.markets, gas_prices=contents.gas_prices, blocks=contents.blocks, taken_at=contents.taken_at
    )
    return _verify(document, State(snapshot=snapshot, owners=owners))


def unpack_delta(sealed: bytes, last: State) -> State:
    """Read what makes another state of `last`.

    Raises
    ------
    BadPayload
        As `unpack_whole`, and if it changes another state than `last`.
    """
    document = Field(_open(sealed, "change"), "change")
    begins = document.get("from")
    if begins.read_text() != last.snapshot.id:
        raise BadPayload(f"change: begins at {begins.value}, not at {last.snapshot.id}")
    contents, changed = _read_contents(document)
    removed = {each.read_text() for each in document.get("removed").read_items(MAX_MARKETS)}
    snapshot = last.snapshot.apply(
        contents.markets,
        removed=removed,
        gas_prices=contents.gas_prices,
        blocks=contents.blocks,
        taken_at=contents.taken_at,
    )
    snapshot = remove_gas_prices(snapshot, snapshot.gas_prices.keys() - contents.gas_prices.keys())
    owners = {name: owner for name, owner in last.owners.items() if name not in removed} | changed
    return _verify(document, State(snapshot=snapshot, owners=owners))


def _describe(state: State, markets: Iterable[Market]) -> dict[str, Any]:
    names = {source.name: number for number, source in enumerate(state.sources)}
    kept = tuple(markets)
    snapshot = state.snapshot
    contents = Contents(
        markets=kept, gas_prices=snapshot.gas_prices, blocks=snapshot.blocks, taken_at=snapshot.taken_at
    )
    owners = [names[state.owners[market.id]] for market in kept]
    return {"names": list(names), "owners": owners, "market": native.build_document(contents)}


def _read_contents(document: Field) -> tuple[Contents, dict[str, str]]:
    try:
        contents = native.parse(document.get("market").value, "market")
    except (BadMarketFile, AttributeError) as error:
        raise BadPayload(str(error)) from error
    names = [name.read_text() for name in document.get("names").read_items(MAX_SOURCES)]
    owners = [owner.read_integer(0, len(names) - 1) for owner in document.get("owners").read_items(MAX_MARKETS)]
    if len(owners) != len(contents.markets):
        raise BadPayload(f"market: {len(contents.markets)} markets have {len(owners)} owners")
    return contents, {market.id: names[owner] for market, owner in zip(contents.markets, owners, strict=True)}


def _verify(document: Field, state: State) -> State:
    expected = document.get("to").read_text()
    if state.snapshot.id != expected:
        raise BadPayload(f"market: its content has the id {state.snapshot.id}, not {expected}")
    return state


def _seal(document: dict[str, Any]) -> bytes:
    body = zlib.compress(json.dumps(document, separators=(",", ":")).encode(), 6)
    return MAGIC + hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() + body


def _open(sealed: bytes, what: str) -> Any:
    if sealed[: len(MAGIC)] != MAGIC:
        raise BadPayload(f"{what}: is not of this version; update what writes it or what reads it")
    told, body = sealed[len(MAGIC) : len(MAGIC) + DIGEST_BYTES], sealed[len(MAGIC) + DIGEST_BYTES :]
    if hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() != told:
        raise BadPayload(f"{what}: is damaged")
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(body, MAX_BYTES)
        if not unpacker.eof:
            raise BadPayload(f"{what}: is longer than {MAX_BYTES} bytes, or breaks off")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise BadPayload(f"{what}: is damaged ({error})") from error

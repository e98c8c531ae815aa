"""Market files: the library's own format, and the neutral one in which recorded markets are exchanged.

May import `errors`, `extensions`, `json_faults`, `market`, `markets`, `model`, `nesting`, `reference` and
`token_fields`. Begin with `native.py`.

>>> from routing_engine import Snapshot
>>> data = pack(Snapshot.sandbox().contents)  # what goes over a wire, or into a blob
>>> len(unpack(data, "a message").markets)
1142
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from routing_engine.errors import BadMarketFile
from routing_engine.formats import native, neutral
from routing_engine.formats.contents import Contents, summarise_refused
from routing_engine.formats.files import pack_json, read_json, read_path, unpack_json, write_json
from routing_engine.formats.screening import screen
from routing_engine.token_fields import Transfers

__all__ = ["Contents", "load", "load_deltas", "pack", "save", "screen", "summarise_refused", "unpack"]


def load(path: str | Path, accept: Collection[Transfers] = ()) -> Contents:
    """Read a market file of either format, compressed or not.

    Parameters
    ----------
    path : str or Path
        The file.
    accept : collection of Transfers
        Of the neutral format, markets of tokens that do not move exact amounts are left out, except these kinds; the
        library's own format holds what was accepted when it was written.

    Raises
    ------
    BadMarketFile
        If it is missing, damaged or of neither format; the message names the file and the field.
    InvalidRequest
        If the path is none.
    """
    path = read_path(path)
    document = read_json(path)
    if not isinstance(document, dict):
        raise BadMarketFile(str(path), "", "expected a JSON object; is this a market file?")
    if document.get("format") == native.FORMAT:
        return native.parse(document, str(path))
    if "pools" in document:
        return neutral.parse(document, str(path), accept)
    remedy = (
        "; deltas are read by formats.load_deltas, or History.open(market, deltas=…)" if "blocks" in document else ""
    )
    raise BadMarketFile(str(path), "format", f"is neither {native.FORMAT!r} nor is there a list of 'pools'{remedy}")


def load_deltas(path: Path, to_block: int | None = None, accept: Collection[Transfers] = ()) -> list[Contents]:
    """Read the changes of consecutive blocks in the neutral format, up to and including `to_block`; `accept` as `load`.

    Raises
    ------
    BadMarketFile
        As `load`.
    """
    return neutral.parse_deltas(read_json(path), str(path), to_block, accept)


def save(contents: Contents, path: str | Path) -> None:
    """Write the library's own format; compressed if the name ends in ``.gz``. An interrupted write leaves no file.

    Raises
    ------
    BadMarketFile
        If its folder is missing.
    InvalidRequest
        If the path is none.
    """
    write_json(read_path(path), native.build_document(contents))


def pack(contents: Contents) -> bytes:
    """Return what `save` would write to a compressed file, compressed quickly rather than well."""
    return pack_json(native.build_document(contents))


def unpack(data: bytes, name: str) -> Contents:
    """Inverse of `pack`; `name` stands for the file in errors, which are those of `load`."""
    return native.parse(unpack_json(data, name), name)

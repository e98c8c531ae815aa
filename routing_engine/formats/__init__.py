"""Market files: the library's own format, and the neutral one in which recorded markets are exchanged."""

from __future__ import annotations

from pathlib import Path

from routing_engine.errors import BadMarketFile
from routing_engine.formats import native, neutral
from routing_engine.formats.contents import Contents
from routing_engine.formats.files import read_json, write_json

__all__ = ["Contents", "load", "load_deltas", "save"]


def load(path: Path) -> Contents:
    """Read a market file of either format, compressed or not.

    Raises
    ------
    BadMarketFile
        If it is missing, damaged or of neither format; the message names the file and the field.
    """
    document = read_json(path)
    if not isinstance(document, dict):
        raise BadMarketFile(str(path), "", "expected a JSON object; is this a market file?")
    if document.get("format") == native.FORMAT:
        return native.parse(document, str(path))
    if "pools" in document:
        return neutral.parse(document, str(path))
    raise BadMarketFile(str(path), "format", f"is neither {native.FORMAT!r} nor is there a list of 'pools'")


def load_deltas(path: Path, to_block: int | None = None) -> list[Contents]:
    """Read the changes of consecutive blocks in the neutral format, up to and including `to_block`.

    Raises
    ------
    BadMarketFile
        As `load`.
    """
    return neutral.parse_deltas(read_json(path), str(path), to_block)


def save(contents: Contents, path: Path) -> None:
    """Write the library's own format; compressed if the name ends in ``.gz``. An interrupted write leaves no file."""
    write_json(path, native.document(contents))

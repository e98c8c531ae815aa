"""Files of requests: a line of JSON each, a JSON array, named columns with rows, or CSV; compressed or not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from routing_engine.errors import BadRequestFile
from routing_engine.formats.files import read_bytes, read_json

NEEDED = ("token_in", "token_out", "amount")
ALIASES = {"amount_raw": "amount"}
"""Names that recorded requests use for the same thing."""


def load_requests(path: Path) -> list[object]:
    """Return the rows of a file of requests, each with `NEEDED` and perhaps ``side``, unchecked.

    The name says what the file holds, ``.gz`` aside: ``.jsonl``, ``.json`` (an array of objects, or ``rows`` whose
    columns ``meta.columns`` names) or ``.csv`` with a line of names. A row that is not of this form comes as it is, so
    that it can be refused by itself; what cannot be told apart into rows is an error.

    Raises
    ------
    BadRequestFile
        If the file cannot be read, or not be divided into rows.
    """
    names = path.name.lower().removesuffix(".gz")
    if names.endswith((".jsonl", ".ndjson")):
        return [_line(line) for line in _text(path).split("\n") if line.strip()]
    if names.endswith(".csv"):
        return _csv_rows(path)
    if names.endswith(".json"):
        return _json_rows(path)
    raise BadRequestFile(str(path), "", "is named neither .jsonl, .json nor .csv; rename it after what it holds")


def _text(path: Path) -> str:
    try:
        return read_bytes(path, BadRequestFile).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequestFile(str(path), "", f"is not UTF-8 text ({error}); save it as such") from error


def _line(line: str) -> object:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return _rename(row) if isinstance(row, dict) else row


def _json_rows(path: Path) -> list[object]:
    document = read_json(path, BadRequestFile)
    if isinstance(document, list):
        return [_rename(row) if isinstance(row, dict) else row for row in document]
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
        raise BadRequestFile(str(path), "rows", "expected an array of objects, or an object with a list of 'rows'")
    meta = document.get("meta")
    columns = meta.get("columns") if isinstance(meta, dict) else None
    if not isinstance(columns, list):
        raise BadRequestFile(str(path), "meta.columns", "is missing; name the columns of 'rows' here")
    _check_columns(columns, path, "meta.columns")
    return [_name_columns(columns, row) for row in document["rows"]]


def _csv_rows(path: Path) -> list[object]:
    try:
        lines = [row for row in csv.reader(io.StringIO(_text(path), newline=""), strict=True) if row]
    except csv.Error as error:
        raise BadRequestFile(str(path), "", f"is not CSV: {error}") from error
    columns = [name.strip() for name in lines[0]] if lines else []
    _check_columns(columns, path, "")
    return [_name_columns(columns, row) for row in lines[1:]]


def _check_columns(columns: Sequence[object], path: Path, field: str) -> None:
    known = {ALIASES.get(str(name), name) for name in columns}
    missing = [name for name in NEEDED if name not in known]
    if missing:
        raise BadRequestFile(str(path), field, f"there is no column {missing[0]!r}; name {', '.join(NEEDED)}")


def _name_columns(columns: Sequence[Any], row: object) -> object:
    if not isinstance(row, list) or len(row) != len(columns):
        return row
    return _rename({str(name): value for name, value in zip(columns, row, strict=True)})


def _rename(row: Mapping[str, object]) -> dict[str, object]:
    return {ALIASES.get(name, name): value for name, value in row.items()}

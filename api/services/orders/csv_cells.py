"""Cells and lines of CSV files: exact, and harmless in spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from api.domain.money import write_decimal
from api.services.routing.token_serializers import checksum

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What spreadsheets take for the beginning of a formula, or of another cell; also in their full-width forms."""


def make_safe(text: str) -> str:
    """Return the text of a cell with an apostrophe before what a spreadsheet would run as a formula."""
    is_formula = text.startswith(FORMULA) or text.lstrip().startswith(FORMULA)
    return f"'{text}" if is_formula else text


def write_amount(amount: int | None, decimals: int | None) -> tuple[str, str]:
    """Write an amount in smallest units and in whole ones; empty where it, or its decimals, are not known."""
    if amount is None:
        return "", ""
    return str(amount), "" if decimals is None else write_decimal(amount, decimals)


def write_address(address: str | None) -> str:
    """Write an address with its checksum."""
    return checksum(address) if address else ""


def write_cell(value: object) -> str:
    """Write anything as text, None as nothing."""
    return "" if value is None else make_safe(str(value))


def write_json(value: Mapping[str, Any]) -> str:
    """Write an object so that no part of it can become a cell of its own where semicolons divide cells."""
    return make_safe(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace(";", "\\u003b"))


def write_lines(rows: Sequence[Sequence[str]]) -> str:
    """Write rows, every cell in quotes; each line ends with CR LF (RFC 4180)."""
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)
    return written.getvalue()

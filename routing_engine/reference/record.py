"""One object of a file of chains, whose fields are read with errors that name the place and what must stand there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from routing_engine.errors import BadChainsFile

MAX_TEXT = 200
_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
_CONTRACT = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_SYMBOL = re.compile(r"[!-?A-~]{1,30}", re.ASCII)


class Record:
    """One object of the file; every wrong field raises `BadChainsFile`.

    Parameters
    ----------
    path : str
        The file.
    where : str
        The object's place in it.
    row : object
        What stands there.
    """

    def __init__(self, path: str, where: str, row: Any) -> None:
        self._path, self._where = path, where
        if not isinstance(row, dict):
            raise BadChainsFile(path, where, f"must be an object, not {str(row)[:40]!r}")
        self.row: dict[str, Any] = row

    def allow(self, known: Collection[str], what: str) -> None:
        """Refuse a field that is not one of these."""
        for name in self.row:
            if name not in known:
                names = ", ".join(sorted(known))
                raise self.wrong(name, f"is no {what}; {f'known are {names}' if names else 'there are none'}")

    def read_object(self, name: str) -> Record:
        """Return a field that is an object."""
        return Record(self._path, f"{self._where}.{name}", self.row.get(name))

    def read_list(self, name: str) -> Iterator[Record]:
        """Return the objects of a list; none where the field is missing."""
        rows = self.row.get(name, [])
        if not isinstance(rows, list):
            raise self.wrong(name, "must be a list of objects")
        return (Record(self._path, f"{self._where}.{name}[{number}]", row) for number, row in enumerate(rows))

    def read_text(self, name: str, kind: str = "a text", is_right: Callable[[str], bool] = lambda _: True) -> str:
        """Return a text that is right."""
        text = self.row.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= MAX_TEXT or not text.isprintable() or not is_right(text):
            raise self.wrong(name, f"must be {kind}")
        return text

    def read_address(self, name: str) -> str:
        """Return an address in lower case."""
        return self.read_text(
            name, "an address: 0x and 40 hex digits in lower case", lambda text: _ADDRESS.fullmatch(text) is not None
        )

    def read_symbol(self, name: str) -> str:
        """Return a token's symbol."""
        return self.read_text(name, "a symbol such as USDC", lambda text: _SYMBOL.fullmatch(text) is not None)

    def read_integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """Return a whole number."""
        value = self.row.get(name, default)
        if type(value) is not int or not least <= value <= most:
            raise self.wrong(name, f"must be a whole number from {least} to {most}")
        return value

    def read_seconds(self, name: str, most: int) -> float:
        """Return a number of seconds."""
        value = self.row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most:
            return float(value)
        raise self.wrong(name, f"must be a number of seconds above 0, at most {most}")

    def wrong(self, name: str, message: str) -> BadChainsFile:
        """Return the error that names a field's place."""
        told = f", not {str(self.row[name])[:60]!r}" if name in self.row and message.startswith("must") else ""
        missing = "" if name in self.row or "[" in name else " (it is missing)"
        return BadChainsFile(self._path, f"{self._where}.{name}", f"{message}{told}{missing}")

    def read_contract(self, name: str) -> str:
        """Return an address in whatever case."""
        return self.read_text(
            name,
            "an address: 0x and 40 hex digits",
            lambda text: _CONTRACT.fullmatch(text) is not None and int(text, 16) > 0,
        )

    def read_items(self, name: str) -> list[Any]:
        """Return a list of anything."""
        rows = self.row.get(name, [])
        if not isinstance(rows, list):
            raise self.wrong(name, "must be a list")
        return rows

    def read_urls(self, name: str) -> tuple[str, ...]:
        """Return a list of addresses that begin with ``https://``; none where the field is missing."""
        urls = self.read_items(name)
        for url in urls:
            if not isinstance(url, str) or not url.startswith("https://") or not 8 < len(url) <= MAX_TEXT:
                raise self.wrong(name, "must be a list of URLs that begin with https://")
        return tuple(urls)

    def read_symbols(self, name: str) -> None:
        """Check an object that says a symbol for each symbol."""
        found = self.read_object(name)
        for symbol in found.row:
            found.read_symbol(symbol)

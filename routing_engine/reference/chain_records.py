"""Reading descriptions of chains from a file, with errors that name the field and what it must be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from routing_engine.errors import BadChainsFile
from routing_engine.model import MAX_DECIMALS
from routing_engine.reference.chain import Chain, ChainToken, GasModel, NativeCurrency

MAX_CHAIN_ID = 2**63
MAX_TEXT = 200
MAX_BLOCK_TIME_S = 3_600
MAX_FINAL_S = 30 * 86_400
_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
_SYMBOL = re.compile(r"[!-?A-~]{1,30}", re.ASCII)
_REQUIRED = frozenset(
    ("chain_id", "name", "logo_uri", "native_currency", "wrapped_native", "wrapped_native_symbol", "block_time_s")
) | {"final_after_s", "explorer_tx_url", "gas_model"}
_KNOWN = _REQUIRED | {"settlement_rank", "bridges", "sandbox", "tokens", "deployments", "source"}
"""A source is for whoever reads the file."""

Value = TypeVar("Value")


def read_chains(path: Path) -> tuple[Chain, ...]:
    """Read the chains that a file describes.

    Parameters
    ----------
    path : Path
        A JSON document ``{"chains": [...]}``; see ``routing_engine/data/chains.json``.

    Raises
    ------
    BadChainsFile
        Naming the file, the field and what it must be.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadChainsFile(str(path), "", f"cannot be read: {error.strerror}; give the path of a file") from None
    except ValueError as error:
        raise BadChainsFile(str(path), "", f"is not JSON: {error}; it must be an object with a list `chains`") from None
    if not isinstance(document, dict) or not isinstance(document.get("chains"), list):
        raise BadChainsFile(str(path), "chains", "must be a list of chains in an object")
    chains = tuple(_Record(str(path), f"chains[{n}]", row).chain() for n, row in enumerate(document["chains"]))
    for number, chain in enumerate(chains):
        if chain.chain_id in {each.chain_id for each in chains[:number]}:
            message = f"describes chain {chain.chain_id} a second time; describe each once"
            raise BadChainsFile(str(path), f"chains[{number}].chain_id", message)
    return chains


class _Record:
    """One object of the file; every wrong field raises `BadChainsFile`."""

    def __init__(self, path: str, where: str, row: Any) -> None:
        self._path, self._where = path, where
        if not isinstance(row, dict):
            raise BadChainsFile(path, where, f"must be an object, not {str(row)[:40]!r}")
        self._row: dict[str, Any] = row

    def chain(self) -> Chain:
        for name in self._row:
            if name not in _KNOWN:
                raise self._wrong(name, f"is no field of a chain; known are {', '.join(sorted(_KNOWN))}")
        coin = self._object("native_currency")
        return Chain(
            chain_id=self._integer("chain_id", 1, MAX_CHAIN_ID),
            name=self._text("name"),
            logo_uri=self._text(
                "logo_uri", "a URL that begins with https://", lambda text: text.startswith("https://")
            ),
            native_currency=NativeCurrency(
                name=coin._text("name"), symbol=coin._symbol("symbol"), decimals=coin._integer("decimals", 0, 18, 18)
            ),
            wrapped_native=self._address("wrapped_native"),
            wrapped_native_symbol=self._symbol("wrapped_native_symbol"),
            block_time_s=self._seconds("block_time_s", MAX_BLOCK_TIME_S),
            final_after_s=self._integer("final_after_s", 1, MAX_FINAL_S),
            explorer_tx_url=self._text(
                "explorer_tx_url", "a URL that begins with https:// and has {tx_hash}", _is_transaction_url
            ),
            gas_model=self._gas_model(),
            settlement_rank=self._integer("settlement_rank", 0, 1_000, 0),
            bridges=_freeze(
                {name: self._object("bridges")._object(name)._row for name in self._row.get("bridges", {})}
            ),
            sandbox=_freeze(self._object("sandbox")._row) if "sandbox" in self._row else None,
            tokens=tuple(record._token() for record in self._list("tokens")),
            deployments=_freeze(dict(self._deployments())),
        )

    def _token(self) -> ChainToken:
        return ChainToken(
            symbol=self._symbol("symbol"),
            address=self._address("address"),
            decimals=self._integer("decimals", 0, MAX_DECIMALS),
            name=self._text("name") if "name" in self._row else "",
            logo_uri=self._text("logo_uri") if "logo_uri" in self._row else "",
            tags=tuple(str(tag) for tag in self._row.get("tags", ())),
        )

    def _bridges(self) -> Any:
        found = self._object("bridges") if "bridges" in self._row else None
        return _freeze({name: found._object(name)._row for name in found._row}) if found else _freeze({})

    def _deployments(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        found = self._object("deployments") if "deployments" in self._row else None
        for protocol in found._row if found else ():
            rows = [record._row for record in found._list(protocol)] if found else []
            yield protocol, [{**row, "chain_id": self._row["chain_id"]} for row in rows]

    def _gas_model(self) -> GasModel:
        try:
            return GasModel(str(self._row.get("gas_model")))
        except ValueError:
            raise self._wrong("gas_model", f"must be one of {', '.join(GasModel)}") from None

    def _object(self, name: str) -> _Record:
        return _Record(self._path, f"{self._where}.{name}", self._row.get(name))

    def _list(self, name: str) -> Iterator[_Record]:
        rows = self._row.get(name, [])
        if not isinstance(rows, list):
            raise self._wrong(name, "must be a list of objects")
        return (_Record(self._path, f"{self._where}.{name}[{number}]", row) for number, row in enumerate(rows))

    def _text(self, name: str, kind: str = "a text", is_right: Callable[[str], bool] = lambda _: True) -> str:
        text = self._row.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= MAX_TEXT or not text.isprintable() or not is_right(text):
            raise self._wrong(name, f"must be {kind}")
        return text

    def _address(self, name: str) -> str:
        return self._text(
            name, "an address: 0x and 40 hex digits in lower case", lambda text: _ADDRESS.fullmatch(text) is not None
        )

    def _symbol(self, name: str) -> str:
        return self._text(name, "a symbol such as USDC", lambda text: _SYMBOL.fullmatch(text) is not None)

    def _integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self._row.get(name, default)
        if type(value) is not int or not least <= value <= most:
            raise self._wrong(name, f"must be a whole number from {least} to {most}")
        return value

    def _seconds(self, name: str, most: int) -> float:
        value = self._row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most:
            return float(value)
        raise self._wrong(name, f"must be a number of seconds above 0, at most {most}")

    def _wrong(self, name: str, message: str) -> BadChainsFile:
        told = f", not {str(self._row[name])[:60]!r}" if name in self._row and message.startswith("must") else ""
        missing = "" if name in self._row else " (it is missing)"
        return BadChainsFile(self._path, f"{self._where}.{name}", f"{message}{told}{missing}")


def _is_transaction_url(text: str) -> bool:
    return text.startswith("https://") and text.count("{tx_hash}") == 1 and text.count("{") == text.count("}") == 1


def _freeze(value: Any) -> Any:
    """Make what a document holds immutable."""
    if isinstance(value, dict):
        return MappingProxyType({name: _freeze(each) for name, each in value.items()})
    return tuple(_freeze(each) for each in value) if isinstance(value, list) else value

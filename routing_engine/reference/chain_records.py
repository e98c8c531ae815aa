"""Reading descriptions of chains from a file, with errors that name the field and what it must be."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

from routing_engine.errors import BadChainsFile
from routing_engine.model import MAX_DECIMALS
from routing_engine.reference.chain import Chain, ChainToken, GasModel, NativeCurrency
from routing_engine.reference.chain_facts import read_bridges, read_deployments, read_sandbox
from routing_engine.reference.record import Record

MAX_CHAIN_ID = 2**63
MAX_BLOCK_TIME_S = 3_600
MAX_FINAL_S = 30 * 86_400
_REQUIRED = frozenset(
    ("chain_id", "name", "logo_uri", "native_currency", "wrapped_native", "wrapped_native_symbol", "block_time_s")
) | {"final_after_s", "explorer_tx_url", "gas_model"}
_KNOWN = _REQUIRED | {"settlement_rank", "bridges", "sandbox", "tokens", "deployments", "public_rpc_urls", "source"}
"""A source is for whoever reads the file."""


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
    chains = tuple(_read_chain(Record(str(path), f"chains[{n}]", row)) for n, row in enumerate(document["chains"]))
    for number, chain in enumerate(chains):
        if chain.chain_id in {each.chain_id for each in chains[:number]}:
            message = f"describes chain {chain.chain_id} a second time; describe each once"
            raise BadChainsFile(str(path), f"chains[{number}].chain_id", message)
    return chains


def _read_chain(record: Record) -> Chain:
    record.allow(_KNOWN, "field of a chain")
    coin = record.read_object("native_currency")
    return Chain(
        chain_id=record.read_integer("chain_id", 1, MAX_CHAIN_ID),
        name=record.read_text("name"),
        logo_uri=record.read_text(
            "logo_uri", "a URL that begins with https://", lambda text: text.startswith("https://")
        ),
        native_currency=NativeCurrency(
            name=coin.read_text("name"),
            symbol=coin.read_symbol("symbol"),
            decimals=coin.read_integer("decimals", 0, 18, 18),
        ),
        wrapped_native=record.read_address("wrapped_native"),
        wrapped_native_symbol=record.read_symbol("wrapped_native_symbol"),
        block_time_s=record.read_seconds("block_time_s", MAX_BLOCK_TIME_S),
        final_after_s=record.read_integer("final_after_s", 1, MAX_FINAL_S),
        explorer_tx_url=record.read_text(
            "explorer_tx_url", "a URL that begins with https:// and has {tx_hash}", _is_transaction_url
        ),
        gas_model=_read_gas_model(record),
        settlement_rank=record.read_integer("settlement_rank", 0, 1_000, 0),
        bridges=_freeze(read_bridges(record)),
        sandbox=_freeze(read_sandbox(record)),
        tokens=tuple(_read_token(each) for each in record.read_list("tokens")),
        deployments=_freeze(read_deployments(record)),
        public_rpc_urls=record.read_urls("public_rpc_urls"),
    )


def _read_token(record: Record) -> ChainToken:
    return ChainToken(
        symbol=record.read_symbol("symbol"),
        address=record.read_address("address"),
        decimals=record.read_integer("decimals", 0, MAX_DECIMALS),
        name=record.read_text("name") if "name" in record.row else "",
        logo_uri=record.read_text("logo_uri") if "logo_uri" in record.row else "",
        tags=tuple(str(tag) for tag in record.row.get("tags", ())),
    )


def _read_gas_model(record: Record) -> GasModel:
    try:
        return GasModel(str(record.row.get("gas_model")))
    except ValueError:
        raise record.wrong("gas_model", f"must be one of {', '.join(GasModel)}") from None


def _is_transaction_url(text: str) -> bool:
    return text.startswith("https://") and text.count("{tx_hash}") == 1 and text.count("{") == text.count("}") == 1


def _freeze(value: Any) -> Any:
    """Make what a document holds immutable."""
    if isinstance(value, dict):
        return MappingProxyType({name: _freeze(each) for name, each in value.items()})
    return tuple(_freeze(each) for each in value) if isinstance(value, list) else value

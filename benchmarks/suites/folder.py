"""A folder of market files with requests beside them, as a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.suite import Arena, Case, Group
from benchmarks.measure import PATIENT_MS
from routing_engine import InvalidRequest, RouteRequest, Snapshot
from routing_engine.batch.files import RowReader
from routing_engine.cli.gas_options import parse_gas_prices
from routing_engine.formats.requests import load_requests

REQUESTS = "requests"
SUFFIXES = (".jsonl", ".json", ".csv")


class BadFolder(Exception):
    """A folder is no suite; the text has the remedy."""


def list_arenas(folder: Path, gas_prices: Sequence[str] = ()) -> Iterator[Arena]:
    """Yield every market file with its requests, by name.

    ``NAME.requests.jsonl`` has those of ``NAME.json`` or ``NAME.json.gz``; ``requests.jsonl`` those of all markets.
    They may be ``.jsonl``, ``.json`` or ``.csv``, as of ``routing-engine batch``.

    Parameters
    ----------
    folder : Path
        Of market files in either documented format.
    gas_prices : sequence of str
        In gwei, ``10`` or ``1=10``; those of the market files without.

    Raises
    ------
    BadFolder
        If there are no markets, or no requests for one.
    BadFile
        If a file can't be read.
    """
    if not folder.is_dir():
        raise BadFolder(f"{folder} is no folder; name quick, full, growth, or a folder of market files and requests")
    markets = [path for path in sorted(folder.iterdir()) if _is_market(path)]
    if not markets:
        raise BadFolder(f"{folder} has no market files: put NAME.json or NAME.json.gz there")
    for path in markets:
        name = path.name.removesuffix(".gz").removesuffix(".json")
        yield _make_arena(name, Snapshot.load(path), _find_requests(folder, name), gas_prices)


def _is_market(path: Path) -> bool:
    name = path.name.removesuffix(".gz")
    return name.endswith(".json") and REQUESTS not in name.split(".")


def _find_requests(folder: Path, market: str) -> Path:
    names = [
        f"{base}{suffix}{gz}"
        for base in (f"{market}.{REQUESTS}", REQUESTS)
        for suffix in SUFFIXES
        for gz in ("", ".gz")
    ]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise BadFolder(f"{folder} has no requests for {market}: write {market}.requests.jsonl, or requests.jsonl for all")


def _make_arena(name: str, snapshot: Snapshot, path: Path, gas_prices: Sequence[str]) -> Arena:
    chains = {token.chain_id for token in snapshot.tokens}
    prices = {**snapshot.gas_prices, **parse_gas_prices(gas_prices, chains)}
    reader = RowReader(snapshot, {"gas_prices": prices, "time_budget_ms": PATIENT_MS})
    rows = [reader.try_read(row) for row in load_requests(path)]
    found = [row for row in rows if isinstance(row, RouteRequest)]
    if not found:
        wrong: Any = next((row for row in rows if isinstance(row, InvalidRequest)), "there are none")
        raise BadFolder(f"{path} has no request that can be asked of {name}: {wrong}")
    group = Group(
        name=name, cases=tuple(Case(request=request) for request in found), left_out=len(rows) - len(found)
    )  # fmt: skip
    return Arena(name=name, source="file", snapshot=snapshot, groups=(group,))

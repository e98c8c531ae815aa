"""``routing-engine snapshot``: market files in, market files out, and what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from routing_engine.amounts import write_exact
from routing_engine.cli.gas_options import GWEI_DECIMALS
from routing_engine.cli.terminal import (
    JSON,
    TABLE,
    fact_table,
    load_market,
    note,
    plain_table,
    reported,
    working,
    write_json,
    write_rich,
)
from routing_engine.errors import BadMarketFile, InvalidRequest
from routing_engine.token_fields import Transfers, printable

if TYPE_CHECKING:
    from rich.table import Table

    from routing_engine.formats import Contents
    from routing_engine.snapshot.snapshot import Snapshot

FORMATS = click.Choice([TABLE, JSON])
FILE = click.Path(path_type=Path)
INEXACT = click.Choice([kind.value for kind in Transfers if kind is not Transfers.EXACT])


@click.group()
def snapshot() -> None:
    """Read, convert and describe market files."""


@snapshot.command("import")
@click.argument("source", metavar="IN", type=FILE)
@click.option("--out", required=True, type=FILE, help="File to write; compressed if it ends in .gz.")
@click.option("--deltas", type=FILE, help="Block deltas to apply, in order.")
@click.option("--to-block", type=int, help="Stop after this block of the deltas.  [default: the last]")
@click.option("--accept", type=INEXACT, multiple=True, help="Load tokens too that do not move exact amounts.")
@click.option("--format", "output_format", type=FORMATS, default=TABLE, show_default=True)
def import_command(
    source: Path, out: Path, deltas: Path | None, to_block: int | None, accept: tuple[str, ...], output_format: str
) -> None:
    """Read the market file IN, of either format, and write it in the engine's own.

    Pools that the engine cannot quote exactly are left out, counted by reason. Those of tokens that take a fee on
    transfers, or rebase, can be accepted: quotes then count what is sent as if it arrived.
    """
    kinds = tuple(map(Transfers, accept))
    if to_block is not None and deltas is None:
        raise click.UsageError("--to-block needs --deltas.")
    with reported(output_format):
        market = load_market(source, kinds)
        wraps = _count_wraps(market)
        loaded = len(market.markets) - wraps
        counts: dict[str, Any] = {
            "pools": loaded + sum(market.refused.values()),
            "loaded": loaded,
            "wraps": wraps,
            "refused": dict(market.refused),
        }
        if deltas is not None:
            market, counts["deltas"] = _apply_deltas(market, deltas, to_block, kinds)
        _save(market, out)
    counts |= {"markets": len(market.markets), "snapshot_id": market.id, "blocks": _texts(market.blocks)}
    counts["out"] = str(out)
    note(f"wrote {len(market.markets):,} markets to {out}")
    if output_format == JSON:
        write_json(counts)
    else:
        write_rich(*_import_tables(counts))


@snapshot.command()
@click.argument("file", required=False, type=FILE)
@click.option("--market", type=FILE, help="The same as FILE.")
@click.option("--format", "output_format", type=FORMATS, default=TABLE, show_default=True)
def info(file: Path | None, market: Path | None, output_format: str) -> None:
    """Describe the market FILE, or the sandbox market without one."""
    if file and market:
        raise click.UsageError("Give FILE or --market, not both.")
    with reported(output_format):
        found = load_market(file or market)
    document = describe(found)
    if output_format == JSON:
        write_json(document)
    else:
        write_rich(*_info_tables(document))


def describe(market: Snapshot) -> dict[str, Any]:
    """Return the JSON document about a snapshot: identity, moment, and counts."""
    markets = Counter((entry.protocol, entry.kind) for entry in market.markets.values())
    tokens = Counter(token.chain_id for token in market.tokens)
    return {
        "snapshot_id": market.id,
        "taken_at": market.taken_at,
        "blocks": _texts(market.blocks),
        "gas_prices_wei": {str(chain_id): str(price) for chain_id, price in sorted(market.gas_prices.items())},
        "markets": len(market.markets),
        "markets_by_protocol": [
            {"protocol": protocol, "kind": kind, "markets": count}
            for (protocol, kind), count in sorted(markets.items(), key=lambda item: (-item[1], item[0]))
        ],
        "tokens": len(market.tokens),
        "tokens_by_chain": _texts(tokens),
        "refused": dict(market.refused),
    }


def _apply_deltas(
    market: Snapshot, path: Path, to_block: int | None, accept: Collection[Transfers]
) -> tuple[Snapshot, dict[str, Any]]:
    """Apply a file of deltas; return the last snapshot and what was done."""
    from routing_engine import formats

    with working(f"Applying {path} …"):
        steps = formats.load_deltas(path, to_block, accept)
        refused: Counter[str] = Counter()
        before = set(market.markets)
        for number, step in enumerate(steps):
            _check_block(market, step, f"blocks.{number}.block", str(path))
            refused.update(step.refused)
            market = market.apply(step.markets, removed=step.withdrawn, blocks=step.blocks)
    return market, {
        "blocks": len(steps),
        "changed": sum(len(step.markets) for step in steps),
        "refused": dict(refused),
        "markets_added": len(market.markets.keys() - before),
        "markets_withdrawn": len(before - market.markets.keys()),
    }


def _check_block(market: Snapshot, step: Contents, field: str, path: str) -> None:
    """Refuse deltas that do not follow the market's own block: they would give a market that never was."""
    for chain_id, block in step.blocks.items():
        if market.blocks and market.blocks.get(chain_id) != block - 1:
            at = ", ".join(f"block {known} of chain {chain}" for chain, known in market.blocks.items())
            message = (
                f"block {block} of chain {chain_id} does not follow the market's {at}; use the deltas of this market"
            )
            raise BadMarketFile(path, field, message)


def _count_wraps(market: Snapshot) -> int:
    """Return the wrapping contracts in a market: no source lists them as pools, the import adds them."""
    return sum(entry.is_wrap for entry in market.markets.values())


def _save(market: Snapshot, out: Path) -> None:
    try:
        with working(f"Writing {out} …"):
            market.save(out)
    except BadMarketFile as error:
        raise InvalidRequest("--out", f"{out} {error.message}") from error
    except OSError as error:
        raise InvalidRequest("--out", f"{out} cannot be written ({error.strerror}); choose another") from error


def _import_tables(counts: Mapping[str, Any]) -> Iterator[Table]:
    table = plain_table("Imported", "", "pools")
    table.add_row("in the file", f"{counts['pools']:,}")
    table.add_row("loaded", f"{counts['loaded']:,}", style="green")
    table.add_row("wrapping contracts beside them", f"{counts['wraps']:,}")
    _add_refused(table, counts["refused"])
    yield table
    if "deltas" in counts:
        done = counts["deltas"]
        table = plain_table(f"Deltas of {done['blocks']:,} blocks", "", "pool states")
        table.add_row("applied", f"{done['changed']:,}", style="green")
        _add_refused(table, done["refused"])
        table.add_row("pools that are new", f"{done['markets_added']:,}")
        table.add_row("pools that can no longer be quoted", f"{done['markets_withdrawn']:,}")
        yield table
    yield fact_table([("", ""), *_facts(counts), ("written to", printable(counts["out"]))])


def _info_tables(document: Mapping[str, Any]) -> Iterator[Table]:
    from routing_engine.reference.chains import CHAINS

    yield fact_table(_facts(document))
    table = plain_table(f"{document['markets']:,} markets", "protocol", "kind", "markets", text_columns=2)
    for row in document["markets_by_protocol"]:
        table.add_row(printable(row["protocol"]), row["kind"], f"{row['markets']:,}")
    yield table
    table = plain_table(f"{document['tokens']:,} tokens", "chain", "id", "tokens", "gas price, gwei")
    for chain_id, count in document["tokens_by_chain"].items():
        chain = CHAINS.get(int(chain_id))
        wei = document["gas_prices_wei"].get(chain_id)
        price = write_exact(int(wei), GWEI_DECIMALS) if wei else "unknown"
        table.add_row(chain.name if chain else "", chain_id, f"{count:,}", price)
    yield table
    if document["refused"]:
        table = plain_table("Left out at import", "", "pools")
        _add_refused(table, document["refused"])
        yield table


def _facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "snapshot", document["snapshot_id"]
    for chain_id, block in document["blocks"].items():
        yield "block", f"{block:,} on chain {chain_id}"
    if document.get("taken_at"):
        yield "taken at", printable(document["taken_at"])


def _add_refused(table: Table, reasons: Mapping[str, int]) -> None:
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(printable(f"refused, {reason}"), f"{count:,}", style="yellow")


def _texts(numbers: Mapping[int, int]) -> dict[str, int]:
    return {str(key): value for key, value in sorted(numbers.items())}

"""``routing-engine replay``: an archived answer, asked for again."""

from __future__ import annotations

from pathlib import Path

import click

from routing_engine.cli.search_options import ready_router
from routing_engine.cli.terminal import JSON, TABLE, fact_table, reported, working, write_json, write_rich

EXIT_DIFFERENT = 1

EXAMPLES = """\b
Examples:
  routing-engine route --from WETH@1 --to USDC@1 --amount 5 --archive answer.json.gz
  routing-engine replay answer.json.gz
"""


@click.command(epilog=EXAMPLES)
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--format", "output_format", type=click.Choice([TABLE, JSON]), default=TABLE, show_default=True)
def replay(archive: Path, output_format: str) -> None:
    """Ask an archived request again on its own market, and compare the answers, bit for bit.

    ARCHIVE is a file of `routing-engine route --archive`, or a quote's, from the service.

    Exit codes: 0 the same answer, 1 another one (the first field that differs is named), 2 wrong usage or input.
    """
    with reported(output_format):
        _replay(archive, output_format)


def _replay(path: Path, output_format: str) -> None:
    from routing_engine import __version__
    from routing_engine.archive.archive import Archive
    from routing_engine.archive.result_records import describe_result

    archive = Archive.load(path)
    router = ready_router(archive.snapshot)
    with working("Searching …"):
        again = archive.replay(router)
    if output_format == JSON:
        write_json({
            "identical": not again.difference,
            "difference": again.difference,
            "cause": again.cause if again.difference else "",
            "answered_by": archive.engine,
            "engine": __version__,
            "answer": describe_result(again.result),
        })  # fmt: skip
    else:
        said = f"no: {again.difference} differs" if again.difference else "yes, bit for bit"
        facts = [
            ("snapshot", archive.snapshot.id),
            ("answered by", f"routing-engine {archive.engine}"),
            ("answer", repr(again.result)),
            ("the same", said),
        ]
        cause = [("because", again.cause)] if again.difference and again.cause else []
        write_rich(fact_table([*facts, *cause]))
    if again.difference:
        raise SystemExit(EXIT_DIFFERENT)

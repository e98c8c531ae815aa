"""What all commands share: failures, notes, a spinner and tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from routing_engine.cli import EXIT_USAGE
from routing_engine.errors import BadFile, InvalidRequest, RoutingError
from routing_engine.token_fields import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from routing_engine.result import Unavailable
    from routing_engine.snapshot.snapshot import Snapshot
    from routing_engine.token_fields import Transfers

EXIT_NO_ROUTE = 1

TABLE, JSON, CSV = "table", "json", "csv"


class Failure(click.ClickException):
    """An error of the engine, as the user reads it: text, or with ``--format json`` one JSON object; on stderr.

    Parameters
    ----------
    error : RoutingError
        What went wrong.
    as_json : bool
        How to write it.
    unavailable : sequence of Unavailable
        Why each protocol could not serve.
    """

    exit_code = EXIT_USAGE

    def __init__(self, error: RoutingError, *, as_json: bool, unavailable: Sequence[Unavailable] = ()) -> None:
        super().__init__(printable(str(error)))
        self._error = error
        self._as_json = as_json
        self._unavailable = unavailable

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the error to stderr."""
        click.echo(json.dumps({"error": self._document()}) if self._as_json else self._text(), file=file, err=True)

    def _document(self) -> dict[str, object]:
        document: dict[str, object] = {"code": self._error.code, "message": str(self._error)}
        if isinstance(self._error, InvalidRequest | BadFile):
            document["field"] = self._error.field
        if isinstance(self._error, BadFile):
            document["path"] = self._error.path
        if self._unavailable:
            document["unavailable"] = [
                {"protocol": entry.protocol, "reason": str(entry.reason), "detail": entry.detail}
                for entry in self._unavailable
            ]
        return document

    def _text(self) -> str:
        width = max((len(entry.protocol) for entry in self._unavailable), default=0)
        reasons = [
            printable(f"  {entry.protocol:{width}}  {entry.reason}  {entry.detail}".rstrip())
            for entry in self._unavailable
        ]
        return "\n".join([f"Error: {self.message}", *reasons])


class NothingFound(Failure):
    """The request is valid, and no market path serves it."""

    exit_code = EXIT_NO_ROUTE


@contextmanager
def reported(output_format: str) -> Iterator[None]:
    """Turn errors of the engine into a `Failure`."""
    try:
        yield
    except RoutingError as error:
        raise Failure(error, as_json=output_format == JSON) from error


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner while the body runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status(printable(what)):
        yield


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give something to tell how many are done, and of how many; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True, markup=False), transient=True) as bar:
        task = bar.add_task(printable(what), total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def note(message: str) -> None:
    """Tell something beside the data."""
    click.echo(f"note: {printable(message)}", err=True)


def write_json(document: object) -> None:
    """Write one JSON value to stdout."""
    click.echo(json.dumps(document, indent=2))


def write_rich(*parts: RenderableType) -> None:
    """Write tables to stdout: coloured on a terminal, plain and 80 columns wide elsewhere."""
    from rich.console import Console

    # Symbols and names come from files: none of them may act as markup.
    console = Console(markup=False, highlight=False, emoji=False)
    for part in parts:
        console.print(part)


def plain_table(title: str, *columns: str, text_columns: int = 1) -> Table:
    """Return a table with a rule under its heading and no frame; text columns first, then numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(f"\n{title}", style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < text_columns else "right", overflow="fold")
    return table


def fact_table(facts: Iterable[tuple[str, Text | str]]) -> Table:
    """Return a table of a name and a value per row."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, value)
    return table


def load_market(path: Path | None, accept: Collection[Transfers] = ()) -> Snapshot:
    """Load a market file, or the sandbox where there is none; `accept` as `Snapshot.load`.

    Raises
    ------
    BadMarketFile
        As `Snapshot.load`.
    """
    with working(f"Loading {path or 'the sandbox market'} …"):
        from routing_engine.snapshot.snapshot import Snapshot

        return Snapshot.load(path, accept) if path else Snapshot.sandbox()

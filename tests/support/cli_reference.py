"""The reference of the command line in `docs/cli.md`; run as a module, this writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"
BEGIN = "## Reference\n"
WIDTH = 100


def list_commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command that does something, with the words that call it."""
    from api.cli.commands import main

    yield from _walk((), main)


def write_reference() -> str:
    """Return the document as it should be: what people wrote, and what the commands say of themselves."""
    parts = [DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN]
    for words, command in list_commands():
        context = click.Context(command, info_name=" ".join(("checkout", *words)))
        context.help_option_names = ["-h", "--help"]
        formatter = click.HelpFormatter(width=WIDTH, max_width=WIDTH)
        command.format_help(context, formatter)
        parts.append(f"\n### `checkout {' '.join(words)}`\n\n```text\n{formatter.getvalue().rstrip()}\n```\n")
    return "".join(parts)


def _walk(words: tuple[str, ...], command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield words, command
        return
    for name in sorted(command.commands):
        yield from _walk((*words, name), command.commands[name])


if __name__ == "__main__":
    DOCUMENT.write_text(write_reference(), encoding="utf-8")

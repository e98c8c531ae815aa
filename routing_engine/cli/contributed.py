"""Commands that other packages add, named by entry points: this package may import none of them."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import click

from routing_engine.errors import BrokenExtension
from routing_engine.extensions import load_extension

ENTRY_POINTS = "routing_engine.commands"


def add_contributed(root: click.Group) -> None:
    """Add every command of the group ``routing_engine.commands``; ``snapshot.capture`` goes below ``snapshot``."""
    for entry in sorted(entry_points(group=ENTRY_POINTS)):
        *groups, name = entry.name.split(".")
        parent = root
        for group in groups:
            found = parent.commands.get(group)
            if not isinstance(found, click.Group):
                raise click.ClickException(f"the command {entry.name} belongs below {group!r}, which is no group")
            parent = found
        parent.add_command(_load_command(entry), name)


def _load_command(entry: EntryPoint) -> click.Command:
    """Return a command; one that is broken is listed, and says why it cannot run."""
    try:
        command: click.Command = load_extension(entry)
    except BrokenExtension as error:
        reason = str(error)

        def refuse() -> None:
            raise click.ClickException(reason)

        return click.Command(entry.name, callback=refuse, help=f"Cannot run: {reason}.")
    return command

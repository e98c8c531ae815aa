"""Commands that other packages add, named by entry points: this package may import none of them."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

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
        parent.add_command(entry.load(), name)

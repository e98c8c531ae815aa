"""What other packages add by entry points: loaded, and named where it is broken."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

from routing_engine.errors import BrokenExtension


def load_extension(entry: EntryPoint) -> Any:
    """Return what an entry point names.

    Raises
    ------
    BrokenExtension
        If that cannot be imported, whatever the reason.
    """
    try:
        return entry.load()
    except Exception as error:
        raise BrokenExtension(describe_extension(entry), f"cannot be loaded: {describe_error(error)}") from error


def describe_extension(entry: EntryPoint) -> str:
    """Return the name of an extension, and the package that it is of."""
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
    return f"{entry.name!r} ({entry.value}) in {entry.group}, of {package},"


def describe_error(error: BaseException) -> str:
    """Return an error as the last line of a traceback has it."""
    return f"{type(error).__name__}: {error}"

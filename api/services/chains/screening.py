"""The seam for a check of addresses: who must not pay, and who must not be paid.

Off by default. An operator who has to screen installs a package with an entry point in the group ``checkout.screening``
and names it in ``SCREENING``.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Protocol

import structlog

from api.domain.errors import ServiceUnavailable
from api.setting_values import describe

log = structlog.get_logger(__name__)

ENTRY_POINTS = "checkout.screening"
RETRY_S = 5


class Screen(Protocol):
    """What an entry point in the group ``checkout.screening`` names."""

    def __call__(self, addresses: Collection[str]) -> Collection[str]:
        """Return those of the addresses, all in lower case, with whom nothing must be exchanged.

        Raises
        ------
        Exception
            Of any kind, where it can't say now: payments wait until it can.
        """
        ...


def nobody(addresses: Collection[str]) -> Collection[str]:
    """Reject nobody: the screen of an operator who has none."""
    return ()


@lru_cache(maxsize=8)
def find_screen(name: str | None) -> Screen:
    """Return the installed screen of this name; without a name the one that rejects nobody.

    Raises
    ------
    ValueError
        Naming what is installed, if there is none of this name.
    """
    if name is None:
        return nobody
    installed = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if name not in installed:
        raise ValueError(
            f"SCREENING is {describe(name)}, but no such check is installed: there is "
            f"{', '.join(sorted(installed)) or 'none'}. Install the package that has it as an entry point in "
            f"`{ENTRY_POINTS}`, or leave SCREENING out"
        )
    try:
        screen: Screen = installed[name].load()
    except Exception as error:  # a stranger's code
        raise ValueError(
            f"SCREENING is {describe(name)}, which is installed but can't be loaded ({type(error).__name__}: {error})"
        ) from error
    return screen


def is_rejected(screen: Screen, address: str) -> bool:
    """Return whether nothing must be exchanged with an address.

    Raises
    ------
    ServiceUnavailable
        If the screen can't say now: nothing is built or sent until it can.
    """
    try:
        return bool(screen([address]))
    except Exception as error:  # a stranger's code: whatever goes wrong in it, nothing is exchanged unchecked
        log.warning("screening_failed", kind=type(error).__name__)
        raise ServiceUnavailable("The check of addresses does not answer; try again", retry_after_s=RETRY_S) from error

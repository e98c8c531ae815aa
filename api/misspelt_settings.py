"""Variables of the environment that nobody reads, and that are named nearly as a setting is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches

import structlog

from api.settings import SETTINGS

ALIKE = 0.85
"""Of two names, by `difflib`: one letter of seven is another one, or missing."""
REMEDY = "write {} if that is meant"
_NUMBERED = re.compile(r"(\w+_\w*[A-Za-z])_?\d+")
"""A name of several words with a number behind it, such as a chain's. ``PORT0`` is another program's."""

log = structlog.get_logger(__name__)


def list_misspelt() -> Iterator[tuple[str, str]]:
    """Yield each variable that is nearly a setting, and the setting that may be meant."""
    for name in sorted(os.environ.keys() - SETTINGS.keys()):
        numbered = _NUMBERED.fullmatch(name)
        spelling = numbered[1] if numbered else name
        if not spelling[-1:].isdigit() and (meant := get_close_matches(spelling.upper(), SETTINGS, 1, ALIKE)):
            yield name, meant[0]


def log_misspelt() -> None:
    """Warn of each in the log of a process that starts: its operator believes it set."""
    for name, meant in list_misspelt():
        log.warning("setting_not_known", setting=name, remedy=REMEDY.format(meant))

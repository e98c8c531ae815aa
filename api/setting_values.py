"""Reads settings from the environment; of a bad one it says what was got, what is allowed, and what it could be."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from api.settings import SETTINGS

MOST_SHOWN = 40
SWITCHES = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
PLACEHOLDER = "change-me"
"""What the files of `deploy` have where the operator puts a value of his own: everybody knows it."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_MAY_BE_SECRET = re.compile(r"@|//[^/]+/.")
"""An address with a user, or with a path: providers of chains put their keys there."""


def describe(text: str) -> str:
    """Quote a bad value, so that it is recognised; of one that may hold a password or a key only the length is told."""
    if len(text) > MOST_SHOWN or _MAY_BE_SECRET.search(text):
        return f"a text of {len(text)} characters"
    return repr(text)


def read_setting(name: str) -> str:
    """Return what the environment says, without spaces around it; empty where it says nothing."""
    return os.environ.get(SETTINGS[name].name, "").strip()


class SettingsReader:
    """Reads declared settings, each with its default where the environment does not set it, or sets it to nothing.

    What makes no sense raises a `ValueError` whose message names the setting.

    Parameters
    ----------
    defaults : mapping of str to str
        Values that go before the declared defaults.
    """

    def __init__(self, defaults: Mapping[str, str]) -> None:
        self._defaults = defaults

    def read(self, name: str) -> str:
        """Return a text."""
        text = read_setting(name)
        if PLACEHOLDER in text:
            remedy = "put a value of your own there, as docs/deployment.md says"
            raise ValueError(f"{name} still has {PLACEHOLDER} in it: {remedy}")
        return text or self._defaults.get(name, SETTINGS[name].default)

    def read_among(self, name: str, allowed: Sequence[str]) -> str:
        """Return one of the texts that are allowed."""
        text = self.read(name)
        if text not in allowed:
            raise ValueError(f"{name} is {describe(text)}, but must be one of {', '.join(allowed)}")
        return text

    def read_integer(self, name: str, *, least: int = 1, most: int = 1_000_000, example: str = "") -> int:
        """Return an integer within its bounds."""
        text = self.read(name)
        if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
            such = example or SETTINGS[name].default
            allowed = f"a whole number from {least} to {most}, in digits alone, such as {such}"
            raise ValueError(f"{name} is {describe(text)}, but must be {allowed}")
        return int(text)

    def read_number(self, name: str, *, most: float) -> float:
        """Return a number from 0."""
        text = self.read(name)
        try:
            value = float(text) if text.isascii() else math.nan
        except ValueError:
            value = math.nan
        if not 0 <= value <= most:
            allowed = f"a number from 0 to {most:g}, such as {SETTINGS[name].default}"
            raise ValueError(f"{name} is {describe(text)}, but must be {allowed}")
        return value

    def read_switch(self, name: str) -> bool:
        """Return whether it is on."""
        text = self.read(name)
        if text.lower() not in SWITCHES:
            raise ValueError(f"{name} is {describe(text)}, but must be true or false; yes, no, on, off, 1 and 0 do too")
        return SWITCHES[text.lower()]

    def read_path(self, name: str) -> Path | None:
        """Return an absolute path; None where there is none."""
        text = self.read(name)
        if "://" in text:
            raise ValueError(f"{name} is {describe(text)}, which is an address: give a path, such as /var/lib/checkout")
        try:
            return Path(text).expanduser().absolute() if text else None
        except RuntimeError as error:
            raise ValueError(f"{name} is {describe(text)}, but there is no such account: give a path from /") from error

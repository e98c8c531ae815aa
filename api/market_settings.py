"""Settings of the live market, as operators write them: ``name=value`` pairs with semicolons between."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from adapters.feed.plan import Plan
from adapters.rpc.urls import is_endpoint

LONGEST_S = 30 * 24 * 3600.0

SETTING_OF = {
    "adapters": "ADAPTERS",
    "options": "ADAPTER_OPTIONS",
    "intervals_s": "SOURCE_INTERVALS",
    "max_ages_s": "SOURCE_MAX_AGES",
}
"""The setting of each field of a plan that names what is installed."""

_NAME = re.compile(r"[\w.@-]{1,60}", re.ASCII)

Value = TypeVar("Value")


def read_plan(settings: Mapping[str, str]) -> Plan:
    """Read what to run.

    Parameters
    ----------
    settings : mapping of str to str
        The texts of `ADAPTERS`, `RPC_URLS`, `ADAPTER_OPTIONS`, `SOURCE_INTERVALS` and `SOURCE_MAX_AGES`.

    Raises
    ------
    ValueError
        Naming the setting and the remedy; never showing a URL, which may hold a key.
    """
    adapters = tuple(filter(None, (name.strip() for name in settings["ADAPTERS"].split(","))))
    options: dict[str, dict[str, str]] = {}
    for name, value in _read_pairs("ADAPTER_OPTIONS", settings, str).items():
        adapter, dot, option = name.partition(".")
        if not dot or not adapter or not option:
            raise ValueError(f"ADAPTER_OPTIONS: write adapter.option=value, not {name!r}")
        options.setdefault(adapter, {})[option] = value
    plan = Plan(
        adapters=adapters,
        rpc_urls=read_endpoints("RPC_URLS", settings["RPC_URLS"]),
        options=options,
        intervals_s=_read_pairs("SOURCE_INTERVALS", settings, _read_seconds),
        max_ages_s=_read_pairs("SOURCE_MAX_AGES", settings, _read_seconds),
    )
    for part, setting in SETTING_OF.items():
        if getattr(plan, part) and not adapters:
            raise ValueError(f"{setting}: is of no use without ADAPTERS; set that too, or leave it out")
    return plan


def read_endpoints(setting: str, text: str) -> dict[int, tuple[str, ...]]:
    """Read the endpoints of chains, such as ``1=https://…,https://…;10=https://…``.

    Raises
    ------
    ValueError
        Naming the setting and the remedy; never showing a URL.
    """
    return {
        _read_chain(setting, name): urls for name, urls in _read_pairs(setting, {setting: text}, _read_urls).items()
    }


def _read_pairs(setting: str, settings: Mapping[str, str], read: Callable[[str], Value]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for pair in filter(None, (part.strip() for part in settings[setting].split(";"))):
        name, equals, text = (each.strip() for each in pair.partition("="))
        if not equals or not name:
            raise ValueError(f"{setting}: write name=value, with semicolons between pairs")
        if not _NAME.fullmatch(name):
            raise ValueError(f"{setting}: a name has letters, digits and . _ @ - only; write name=value")
        if name in found:
            raise ValueError(f"{setting}: {name} is given twice")
        try:
            found[name] = read(text)
        except ValueError as error:
            raise ValueError(f"{setting}: {name}: {error}") from None
    return found


def _read_chain(setting: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"{setting}: {text} is no chain id; write 1=https://…")
    return int(text)


def _read_urls(text: str) -> tuple[str, ...]:
    urls = tuple(filter(None, (url.strip() for url in text.split(","))))
    if not urls or not all(is_endpoint(url) for url in urls):
        what = "an http:// or https:// URL, or a node's socket such as ipc:///var/run/geth.ipc"
        raise ValueError(f"every endpoint must be {what}; commas go between several")
    return urls


def _read_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= LONGEST_S:
        raise ValueError(f"must be a number of seconds above 0, at most {LONGEST_S:g}")
    return seconds

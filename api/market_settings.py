"""Settings of the live market, as operators write them: ``name=value`` pairs with semicolons between."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from adapters.feed.plan import Plan
from adapters.rpc.urls import is_endpoint
from api.setting_values import describe

LONGEST_S = 30 * 24 * 3600.0

SETTING_OF = {
    "adapters": "ADAPTERS",
    "options": "ADAPTER_OPTIONS",
    "intervals_s": "SOURCE_INTERVALS",
    "max_ages_s": "SOURCE_MAX_AGES",
}
"""The setting of each field of a plan that names what is installed."""

ENDPOINTS_FORM = "1=https://one.example,https://two.example;8453=https://three.example"
FORMS = {
    "RPC_URLS": ENDPOINTS_FORM,
    "TEST_RPC_URLS": ENDPOINTS_FORM,
    "ADAPTER_OPTIONS": "across.url=https://one.example;canonical.l1_gas_gwei=3",
    "SOURCE_INTERVALS": "across=30;chain@1=12",
    "SOURCE_MAX_AGES": "across=120;chain@1=60",
}
"""What each setting of pairs looks like: a refusal shows it in place of what may hold a key."""
MOST_CHAIN_ID = 2**53 - 1
LONGEST_NAME = 20
"""What is longer may be a provider's key in the place of a name."""
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
            raise ValueError(
                f"ADAPTER_OPTIONS: {_describe_name(name)} names no option of an adapter; write it as in "
                f"{FORMS['ADAPTER_OPTIONS']}"
            )
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
    parts = [*filter(None, map(str.strip, settings[setting].split(";")))]
    for number, pair in enumerate(parts, start=1):
        name, equals, text = (each.strip() for each in pair.partition("="))
        if not equals or not _NAME.fullmatch(name):
            lacks = "begins with no name" if equals else "has no ="
            raise ValueError(
                f"{setting}: part {number} of {len(parts)}, a text of {len(pair)} characters, {lacks}; write the parts "
                f"with semicolons between, as in {FORMS[setting]}"
            )
        if name in found:
            raise ValueError(f"{setting}: {_describe_name(name)} is given twice; put all of it into one part")
        try:
            found[name] = read(text)
        except ValueError as error:
            raise ValueError(f"{setting}: {_describe_name(name)}: {error}, as in {FORMS[setting]}") from None
    return found


def _describe_name(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"a name of {len(name)} characters"


def _read_chain(setting: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and text[0] != "0" and int(text) <= MOST_CHAIN_ID):
        raise ValueError(f"{setting}: {_describe_name(text)} is no number of a chain; write it as in {FORMS[setting]}")
    return int(text)


def _read_urls(text: str) -> tuple[str, ...]:
    urls = tuple(filter(None, (url.strip() for url in text.split(","))))
    bad = [number for number, url in enumerate(urls, start=1) if not is_endpoint(url)]
    if bad or not urls:
        got = "there is none"
        if bad:
            got = f"endpoint {bad[0]} of {len(urls)} is a text of {len(urls[bad[0] - 1])} characters that is none"
        what = "an http:// or https:// URL without spaces, or a node's socket such as ipc:///var/run/geth.ipc"
        raise ValueError(f"{got}: every endpoint must be {what}; commas go between several")
    return urls


def _read_seconds(text: str) -> float:
    try:
        seconds = float(text) if text.isascii() else 0.0
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= LONGEST_S:
        raise ValueError(f"{describe(text)} must be a number of seconds above 0, at most {LONGEST_S:.0f}")
    return seconds

"""What an operator may have got wrong: variables named nearly as a setting is, and chains that nobody describes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches

import structlog

from api.config import Config
from api.domain.env import EnvMode
from api.settings import SETTINGS
from routing_engine.reference.chains import CHAINS

ALIKE = 0.85
"""Of two names, by `difflib`: one letter of seven is another one, or missing."""
REMEDY = "write {} if that is meant"
CHAIN_REMEDY = "correct the number, or describe the chain in CHAINS_FILE"
_NUMBERED = re.compile(r"([^\W_]+_\w*[A-Za-z])_?\d+")
"""A name of several words with a number behind it, such as a chain's. ``PORT0`` is another program's."""

_told: set[tuple[str | int, ...]] = set()
"""What this process, or the one that it was forked from, has warned of."""

log = structlog.get_logger(__name__)


def list_misspelt() -> Iterator[tuple[str, str]]:
    """Yield each variable that is nearly a setting, and the setting that may be meant."""
    for name in sorted(os.environ.keys() - SETTINGS.keys()):
        numbered = _NUMBERED.fullmatch(name)
        spelling = numbered[1] if numbered else name
        if not spelling[-1:].isdigit() and (meant := get_close_matches(spelling.upper(), SETTINGS, 1, ALIKE)):
            yield name, meant[0]


def list_unknown_chains(config: Config) -> Iterator[tuple[str, int]]:
    """Yield each setting with a chain that neither comes with the library nor stands in `CHAINS_FILE`.

    Money can be received there in a token that is given by its address, but no route leads to it.
    """
    named = {
        "RPC_URLS": config.rpc_urls(EnvMode.LIVE),
        "TEST_RPC_URLS": config.rpc_urls(EnvMode.TEST),
        "CONFIRMATIONS": config.confirmations.by_chain,
    }
    for setting, chains in named.items():
        yield from ((setting, chain_id) for chain_id in sorted(chains.keys() - CHAINS.keys()))


def log_doubts(config: Config) -> None:
    """Warn of each in the log of a process that starts; not again in those that are forked from it."""
    for name, meant in list_misspelt():
        _warn_once("setting_not_known", setting=name, remedy=REMEDY.format(meant))
    for name, chain_id in list_unknown_chains(config):
        _warn_once("chain_not_known", setting=name, chain_id=chain_id, remedy=CHAIN_REMEDY)


def _warn_once(event: str, **said: str | int) -> None:
    doubt = (event, *said.values())
    if doubt not in _told:
        _told.add(doubt)
        log.warning(event, **said)

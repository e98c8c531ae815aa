"""What makes a kind of market known: its class, and which pools of the neutral format it is built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from routing_engine.market import Market
from routing_engine.markets.common.base import BaseMarket
from routing_engine.model import Token

PoolReader: TypeAlias = Callable[[Mapping[str, Any], str, list[Token]], Market]
"""Takes a pool of the neutral format, the market's id and the pool's tokens; returns its market.

It raises `pool_fields.PoolRefused` with a reason, under which the pool is left out and counted, or `InvalidMarket` for
a damaged field, which refuses the whole file. Whatever else it raises counts as ``reader_failed``, with a warning.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketKind:
    """What an entry point of the group ``routing_engine.markets`` names; its name is `BaseMarket.kind`.

    Parameters
    ----------
    market : class
        What reads and writes records of this kind.
    pool_readers : mapping of str to PoolReader
        By the ``type`` of pools in the neutral format.
    """

    market: type[BaseMarket]
    pool_readers: Mapping[str, PoolReader] = field(default_factory=dict)

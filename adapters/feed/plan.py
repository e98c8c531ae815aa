"""What an operator wants to run; imports nothing heavy, so that settings can be read by processes that never route."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an operator wants to run.

    Parameters
    ----------
    adapters : tuple of str
        Names of entry points.
    rpc_urls : mapping of int to tuple of str
        Endpoints by chain id; every adapter gets them as options ``rpc_1``, …, separated by commas.
    options : mapping of str to mapping of str to str
        Further options by adapter.
    intervals_s, max_ages_s : mapping of str to float
        In place of what adapters choose, by source; ``uniswap`` stands for ``uniswap@1``, ``uniswap@10`` and so on.
    """

    adapters: tuple[str, ...] = ()
    rpc_urls: Mapping[int, tuple[str, ...]] = field(default_factory=dict, repr=False)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    intervals_s: Mapping[str, float] = field(default_factory=dict)
    max_ages_s: Mapping[str, float] = field(default_factory=dict)

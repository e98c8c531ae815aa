"""What a market file holds, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing_engine.market import Market

REASONS_SHOWN = 3
"""Reasons in a summary, the most frequent."""


NO_MOMENT = "must be an ISO 8601 time such as 2026-03-01T12:00:00Z, or empty"
"""What is wrong with a time that `is_moment` refuses."""


def is_moment(text: object) -> bool:
    """Tell whether this is an ISO 8601 time, or empty where none is known."""
    if not isinstance(text, str):
        return False
    try:
        return not text or bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def summarise_refused(refused: Mapping[str, int]) -> str:
    """Return in a few words how many pools were left out and why, such as ``12 left out: 9 empty, 3 fee_unknown``."""
    most = sorted(refused.items(), key=lambda each: (-each[1], each[0]))[:REASONS_SHOWN]
    listed = ", ".join(f"{count} {reason}" for reason, count in most)
    return f"{sum(refused.values())} left out: {listed}" + (", …" if len(refused) > REASONS_SHOWN else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Markets and what is known of the moment they were read at.

    Parameters
    ----------
    markets : tuple of Market
        In the order of the file; after the pools of the neutral format, the wrapping contracts that join them.
    refused : mapping of str to int
        How many pools were left out, by reason.
    withdrawn : tuple of str
        Ids of the pools left out: in a list of changes, their old states are out of date.
    blocks : mapping of int to int
        Block number by chain id.
    gas_prices : mapping of int to int
        Wei per gas unit by chain id.
    taken_at : str
        ISO 8601 time, or empty where the file does not say.
    """

    markets: tuple[Market, ...]
    refused: Mapping[str, int] = field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()
    blocks: Mapping[int, int] = field(default_factory=dict)
    gas_prices: Mapping[int, int] = field(default_factory=dict)
    taken_at: str = ""

"""Other ways to find a route, each on the same market, with its answers in one shape."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a peer would do with a query: amounts down paths of markets, and how long it thought.

    Parameters
    ----------
    paths : tuple of (int, tuple of str)
        Smallest units of the token sold, and market ids in series; empty where it found nothing.
    seconds : float
        Time to decide, without setting up: of the processor for what runs in this process.
    """

    paths: tuple[tuple[int, tuple[str, ...]], ...]
    seconds: float

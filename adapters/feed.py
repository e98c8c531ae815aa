"""Adapters run side by side, folded into one snapshot; one that fails takes nothing else down."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.base import Adapter, AdapterError
from routing_engine import Snapshot
from routing_engine.formats import screen
from routing_engine.model import Transfers

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refresh:
    """What one round of all adapters gave.

    Parameters
    ----------
    snapshot : Snapshot
        The last one with everything new folded in.
    failures : mapping of str to str
        Reason by adapter name; the snapshot keeps what these gave before.
    """

    snapshot: Snapshot
    failures: Mapping[str, str]

    @property
    def degraded(self) -> bool:
        """Whether any source is missing from this round."""
        return bool(self.failures)


def refresh(
    adapters: Iterable[Adapter[Any]], last: Snapshot | None = None, accept: Collection[Transfers] = ()
) -> Refresh:
    """Run each adapter once and fold what it gives into the last snapshot.

    Parameters
    ----------
    adapters : iterable of Adapter
        Sources; later ones win where two give the same market id.
    last : Snapshot, optional
        Where to start; empty if left out.
    accept : collection of Transfers
        Markets of tokens that do not move exact amounts are left out, but for these kinds.
    """
    snapshot = last or Snapshot(())
    failures: dict[str, str] = {}
    for adapter in adapters:
        try:
            contents = screen(adapter.parse(adapter.fetch()), accept)
        except AdapterError as error:
            logger.warning("adapter %s failed: %s", adapter.name, error)
            failures[adapter.name] = str(error)
            continue
        snapshot = snapshot.apply(
            contents.markets,
            removed=contents.withdrawn,
            gas_prices=contents.gas_prices,
            blocks=contents.blocks,
            taken_at=contents.taken_at or None,
        )
    return Refresh(snapshot, failures)

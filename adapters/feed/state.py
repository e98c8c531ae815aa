"""What a feed knows at one moment: the snapshot, who gave what, and which sources are in trouble."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from adapters.base import UNAVAILABLE, BadPayload
from adapters.http.json_fields import Field
from routing_engine import Snapshot

STALE, PENDING, INCOMPLETE = "stale", "pending", "incomplete"
MAX_TIME = 10**11
MAX_SOURCES = 10_000
MAX_REASONS, LONGEST_REASON = 1_000, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """How one source is doing.

    Parameters
    ----------
    name : str
        Of the source.
    expires_at : float
        When what it gave last is stale, in seconds since 1970; 0 before it has given anything.
    readings, failures : int
        How often it was read, and how often in vain, since the start.
    seconds : float
        How long the last reading took.
    trouble : str
        What is wrong with it now: the `code` of an error, ``crashed``, ``hangs``, ``pending`` or ``stale``; or
        ``incomplete`` where only protocols are `missing`; empty where all is well. What it gave is still used until it
        is stale.
    reason : str
        The same in words, for the operator.
    since : float
        Since when something has been wrong, in seconds since 1970; before the first reading, since when it is awaited:
        whoever shows the state says the same.
    gas_chains : tuple of int
        Chains whose gas price it gave.
    refused : mapping of str to int
        How many pools it left out at the last reading, by protocol and reason.
    is_left_out : bool
        Whether the state that this belongs to does without what it gave. Whoever makes a state says so; it is not
        written down.
    """

    name: str
    expires_at: float = 0.0
    readings: int = 0
    failures: int = 0
    seconds: float = 0.0
    trouble: str = ""
    reason: str = ""
    since: float = 0.0
    gas_chains: tuple[int, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    is_left_out: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        """The protocols of which it could read nothing, while it read others."""
        return tuple(each.removesuffix(UNAVAILABLE) for each in self.refused if each.endswith(UNAVAILABLE))

    def is_stale(self, now: float) -> bool:
        """Whether nothing that it gave may be used now."""
        return self.expires_at <= now

    def to_record(self) -> dict[str, Any]:
        """JSON-ready; what never expires does so in the far future."""
        return {
            "name": self.name,
            "expires_at": min(self.expires_at, float(MAX_TIME)),
            "readings": self.readings,
            "failures": self.failures,
            "seconds": self.seconds,
            "trouble": self.trouble,
            "reason": self.reason,
            "since": self.since,
            "gas_chains": list(self.gas_chains),
            "refused": [{"reason": reason, "pools": pools} for reason, pools in self.refused.items()],
        }

    @classmethod
    def from_record(cls, record: Field) -> Self:
        """Inverse of `to_record`; raises `BadPayload`."""
        return cls(
            name=record.get("name").read_text(),
            expires_at=float(record.get("expires_at").read_decimal(0, MAX_TIME)),
            readings=record.get("readings").read_integer(0, 2**63),
            failures=record.get("failures").read_integer(0, 2**63),
            seconds=float(record.get("seconds").read_decimal(0, MAX_TIME)),
            trouble=record.get("trouble").read_text(),
            reason=record.get("reason").read_text(2_000),
            since=float(record.get("since").read_decimal(0, MAX_TIME)),
            gas_chains=tuple(
                chain.read_integer(1, 2**63) for chain in record.get("gas_chains").read_items(MAX_SOURCES)
            ),
            refused={
                row.get("reason").read_text(): row.get("pools").read_integer(0, 2**63)
                for row in record.get("refused").read_items(MAX_REASONS)
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A snapshot and where it comes from.

    Parameters
    ----------
    snapshot : Snapshot
        All that is known, whatever its age; `fresh` leaves out what is stale.
    owners : mapping of str to str
        Name of the source by market id.
    sources : tuple of SourceReport
        In the order in which the sources were given.
    """

    snapshot: Snapshot = field(default_factory=lambda: Snapshot(()))
    owners: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceReport, ...] = ()

    @property
    def missing(self) -> tuple[SourceReport, ...]:
        """The sources that something is wrong with."""
        return tuple(source for source in self.sources if source.trouble)

    @property
    def degraded(self) -> bool:
        """Whether something is wrong with any source."""
        return bool(self.missing)

    def leave_out(self, names: Collection[str]) -> State:
        """Return the state without what these sources gave."""
        owners = {market_id: owner for market_id, owner in self.owners.items() if owner not in names}
        chains = {chain for source in self.sources if source.name in names for chain in source.gas_chains}
        snapshot = self.snapshot.apply(removed=self.owners.keys() - owners.keys())
        return replace(self, snapshot=remove_gas_prices(snapshot, chains), owners=owners)


class Freshness:
    """Leaves out of states what is stale, and remembers the last answer: most questions are the same again."""

    def __init__(self) -> None:
        self._key: tuple[Snapshot, frozenset[str]] | None = None
        self._made = State()

    def __call__(self, state: State, now: float) -> State:
        """Return `state` without what is stale at `now`, in seconds since 1970."""
        stale = frozenset(source.name for source in state.sources if source.is_stale(now))
        sources = tuple(_mark_left_out(source, now) if source.name in stale else source for source in state.sources)
        if stale.isdisjoint(state.owners.values()) and not any(s.gas_chains for s in sources if s.name in stale):
            return replace(state, sources=sources)
        key = state.snapshot, stale
        if self._key is None or self._key[0] is not key[0] or self._key[1] != key[1]:
            self._key, self._made = key, state.leave_out(stale)
        return replace(self._made, sources=sources)


def _mark_left_out(source: SourceReport, now: float) -> SourceReport:
    """Say that a source is left out: because it is stale, or not read yet, unless something worse is known of it."""
    if source.trouble:
        return replace(source, is_left_out=True)
    if not source.expires_at:
        return replace(
            source, trouble=PENDING, reason="has not been read yet", since=source.since or now, is_left_out=True
        )
    reason = "what it gave is too old"
    return replace(source, trouble=STALE, reason=reason, since=source.expires_at, is_left_out=True)


def remove_gas_prices(snapshot: Snapshot, chain_ids: Collection[int]) -> Snapshot:
    """Return the snapshot with the gas prices of these chains unknown."""
    if not snapshot.gas_prices.keys() & chain_ids:
        return snapshot
    return Snapshot(
        snapshot.markets.values(),
        gas_prices={chain_id: price for chain_id, price in snapshot.gas_prices.items() if chain_id not in chain_ids},
        blocks=snapshot.blocks,
        taken_at=snapshot.taken_at,
        refused=snapshot.refused,
    )


def read_reports(records: Field) -> tuple[SourceReport, ...]:
    """Read a list of `SourceReport.to_record`.

    Raises
    ------
    BadPayload
        If a field is wrong, or two sources share a name.
    """
    reports = tuple(SourceReport.from_record(record) for record in records.read_items(MAX_SOURCES))
    if len({report.name for report in reports}) < len(reports):
        raise BadPayload(f"{records.path}: two sources share a name")
    return reports

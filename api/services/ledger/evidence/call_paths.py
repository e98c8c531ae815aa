"""The calls around a movement of money: what they name, who made them, and whose money was in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from api.domain.transfers import Naming
from api.services.ledger.evidence.balances import find_losers
from api.services.ledger.evidence.entries import ENTRY_POINTS
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import Movement
from api.services.ledger.evidence.traces import CALL, CallTree, Frame
from api.services.ledger.rpc_records import REFERENCE_BYTES
from routing_engine.model import ZERO_ADDRESS

MOST_NAMINGS = 32
"""Calls around a movement that are looked at, from the innermost on: an account's payment lies within a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """What lies around a call.

    Parameters
    ----------
    entry : int
        Number of the call in which whoever pays begins.
    namings : tuple of Naming
        Of the calls around it, the innermost first.
    callers : tuple of str
        Who made the calls from the entry on, the innermost last.
    maker : str
        Who made the innermost call with nobody's money but his own; empty where nobody did.
    """

    entry: int = 0
    namings: tuple[Naming, ...] = ()
    callers: tuple[str, ...] = ()
    maker: str = ""


_NO_PATH = Path()


class CallPaths:
    """What lies around the calls of a transaction that are asked about.

    Parameters
    ----------
    tree, movements, listed, earned, bridges
        See `TracedEvidence`; the movements are those that somebody may have lost something by.
    asked : collection of int
        The calls.
    """

    def __init__(
        self,
        tree: CallTree,
        movements: Sequence[Movement],
        *,
        listed: Listed,
        earned: Mapping[int, Sequence[Movement]],
        bridges: Collection[int],
        asked: Collection[int],
    ) -> None:
        self._tree, self._moved, self._listed, self._earned = tree, movements, listed, earned
        self._bridges, self._asked = bridges, asked

    def find_payer(self, path: Path) -> str:
        """Return who alone lost something where his call begins, if it was he who made it or was called; else empty.

        Whoever lost something and was neither may have been paid for it, or been drawn from.
        """
        entry = self._tree.frames[path.entry]
        called = entry.recipient if entry.kind == CALL and entry.recipient not in ENTRY_POINTS else ""
        may_pay = {called} if entry.sender in ENTRY_POINTS else {entry.sender, called}
        losers = self.losers[path.entry]
        return losers[0] if len(losers) == 1 and losers[0] in may_pay - self._listed.contracts else ""

    def list_others(self, path: Path, payer: str, *holder: str) -> tuple[str, ...]:
        """Return who else made the calls or lost something where the payer's call begins; the bundler did not."""
        entry = self._tree.frames[path.entry]
        people = {*holder, *path.callers, *self.losers[path.entry], entry.sender, entry.recipient}
        return tuple(sorted(people.difference((payer, "", ZERO_ADDRESS), ENTRY_POINTS, self._listed.contracts)))

    @cached_property
    def losers(self) -> Mapping[int, tuple[str, ...]]:
        """Whose balances fell: in each call that is asked about, or around one, and whoever's in those that begin."""
        entries = self._entries
        return find_losers(
            self._tree,
            self._moved,
            listed=self._listed,
            earned=self._earned,
            bridges=self._bridges,
            wanted={*entries, 0},
            whole={*entries.values()},
        )

    @cached_property
    def _entries(self) -> Mapping[int, int]:
        """Of each call that is asked about, or around one: the call in which whoever pays begins.

        That is the transaction's own, or an entry point's call of an account.
        """
        found: dict[int, int] = {}
        for number in sorted(self._list_asked_and_around()):
            frame = self._tree.frames[number]
            is_entry = frame.kind == CALL and frame.sender in ENTRY_POINTS and frame.recipient not in ENTRY_POINTS
            around = found.get(frame.parent, 0)
            found[number] = number if is_entry and not around else around
        return found

    @cached_property
    def paths(self) -> Mapping[int, Path]:
        """What lies around each of these calls: its own, and that of its caller, but not around where the payer begins.

        What a bundler calls is his own affair: he may hand an account what he owes it, so that only he has less.
        """
        found: dict[int, Path] = {}
        for number, entry in self._entries.items():
            frame, losers = self._tree.frames[number], self.losers[number]
            around = _NO_PATH if number == entry else found[frame.parent]
            is_call = frame.kind == CALL and frame.sender not in ENTRY_POINTS
            is_own = frame.kind == CALL and losers == (frame.sender,) and frame.sender not in self._listed
            found[number] = Path(
                entry=entry,
                namings=(*_make_naming(frame, is_own=is_own), *around.namings)[:MOST_NAMINGS],
                callers=(*around.callers[-MOST_NAMINGS:], frame.sender) if is_call else around.callers,
                maker=frame.sender if is_own else around.maker,
            )
        return found

    def _list_asked_and_around(self) -> set[int]:
        wanted: set[int] = set()
        for number in self._asked:
            while number >= 0 and number not in wanted:
                wanted.add(number)
                number = self._tree.frames[number].parent
        return wanted


def _make_naming(frame: Frame, *, is_own: bool) -> Iterator[Naming]:
    """Yield what a call names; the code that it borrows, and what it makes or destroys, is no call of its own."""
    reference = frame.calldata[-REFERENCE_BYTES:]
    if frame.kind == CALL and len(reference) == REFERENCE_BYTES:
        yield Naming(reference=reference, is_own=is_own, caller=frame.sender)

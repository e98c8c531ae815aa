"""What proves whose a movement of money is: the calls that it was part of, or what the transaction's calldata says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from adapters.bridges.events import BridgeEvents, Deposit
from api.domain.transfers import Naming
from api.services.ledger.evidence.entries import ENTRY_POINTS
from api.services.ledger.evidence.movements import Movement, find_losers
from api.services.ledger.evidence.permissions import PERMIT2, find_permissions
from api.services.ledger.evidence.traces import CALL, CallTree, Frame
from api.services.ledger.rpc_records import REFERENCE_BYTES
from routing_engine.model import ZERO_ADDRESS

MOST_NAMINGS = 32
"""Calls around a movement that are looked at, from the innermost on: an account's payment lies within a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerProof:
    """Who names something, who certainly paid, and who else had to do with it; see `api.domain.transfers.Transfer`."""

    namings: tuple[Naming, ...] = ()
    sender: str = ""
    others: tuple[str, ...] = ()


class TransactionEvidence(Protocol):
    """What is known of a transaction's movements of money."""

    @property
    def knows_coin(self) -> bool:
        """Whether all coin that moved is among the movements."""
        ...

    @property
    def movements(self) -> Sequence[Movement]:
        """All that are known, those of events and those of coin."""
        ...

    def proof_of(self, movement: Movement) -> PayerProof:
        """Return what proves whose money a movement was."""
        ...

    def proof_of_deposit(self, place: int, deposit: Deposit) -> PayerProof:
        """Return whose money a bridge's contract took in, by the place of its event among the receipt's logs."""
        ...

    def call_at(self, place: int, contract: str) -> bytes:
        """Return the calldata of the contract's call that wrote an event; empty where it is not known."""
        ...


class TracedEvidence:
    """Evidence from a trace.

    Parameters
    ----------
    tree : CallTree
        Of a transaction.
    movements : sequence of Movement
        All that moved in it, things too.
    listed : collection of str
        Markets, routers and bridges, whose balances do not count.
    recipients : collection of str
        Movements to whom are asked about.
    events : sequence of (int, BridgeEvent)
        What bridges say, by the place among the receipt's logs.
    bridges : collection of int
        The calls of bridges' contracts, without those within them.
    """

    def __init__(
        self,
        tree: CallTree,
        movements: Sequence[Movement],
        *,
        listed: Collection[str],
        recipients: Collection[str],
        events: BridgeEvents,
        bridges: Collection[int],
    ) -> None:
        self._tree, self._listed, self._bridges = tree, listed, bridges
        self._moved = movements
        self.movements = [row for row in movements if not row.is_thing]
        self.knows_coin = True
        asked = {row.frame for row in self.movements if row.recipient in recipients}
        self._asked = asked | {tree.frame_of_log[place] for place, event in events if isinstance(event, Deposit)}

    def proof_of(self, movement: Movement) -> PayerProof:
        """Return the call's evidence; none for what a bridge's contract paid out, at whoever's bidding."""
        if movement.is_of_bridge:
            return PayerProof()
        path = self._paths[movement.frame]
        payer = self._find_payer(path)
        if payer or not self._is_permitted(movement):
            return PayerProof(
                namings=path.namings, sender=payer, others=self._list_others(path, payer, movement.sender)
            )
        return PayerProof(namings=path.namings, sender=movement.sender)

    def proof_of_deposit(self, place: int, deposit: Deposit) -> PayerProof:
        """Return the evidence of the call that wrote the event.

        Where it is not certain who paid, it is who made the call with his own money: the bridge knows no other.
        """
        path = self._paths[self._tree.frame_of_log[place]]
        payer = self._find_payer(path) or path.maker
        return PayerProof(namings=path.namings, sender=payer, others=self._list_others(path, payer))

    def call_at(self, place: int, contract: str) -> bytes:
        """Return the calldata of the innermost call of the contract around the event."""
        number = self._tree.frame_of_log[place]
        while number >= 0:
            frame = self._tree.frames[number]
            if frame.kind == CALL and frame.recipient == contract:
                return frame.calldata
            number = frame.parent
        return b""

    def _find_payer(self, path: _Path) -> str:
        """Return who alone lost something where his call begins, if it was he who made it or was called; else empty.

        Whoever lost something and was neither may have been paid for it, or been drawn from.
        """
        entry = self._tree.frames[path.entry]
        called = entry.recipient if entry.kind == CALL and entry.recipient not in ENTRY_POINTS else ""
        may_pay = (called,) if entry.sender in ENTRY_POINTS else (entry.sender, called)
        losers = self._losers[path.entry]
        return losers[0] if len(losers) == 1 and losers[0] in may_pay else ""

    def _is_permitted(self, movement: Movement) -> bool:
        """Whether nobody but its holder lost anything, and the transaction carries his signature that lets him lose."""
        holder = movement.sender
        signed = ((movement.token_address, holder), (PERMIT2, holder))
        return self._losers[0] == (holder,) and not self._permissions.isdisjoint(signed)

    def _list_others(self, path: _Path, payer: str, *holder: str) -> tuple[str, ...]:
        """Return who else made the calls or lost something where the payer's call begins; the bundler did not."""
        entry = self._tree.frames[path.entry]
        people = {*holder, *path.callers, *self._losers[path.entry], entry.sender, entry.recipient}
        return tuple(sorted(people.difference((payer, "", ZERO_ADDRESS), ENTRY_POINTS, self._listed)))

    @cached_property
    def _permissions(self) -> frozenset[tuple[str, str]]:
        """Whose signatures were checked, and by which contracts.

        What wraps the coin checks none: it takes any call that it does not know for a deposit.
        """
        wrappers = {row.token_address for row in self._moved if row.is_wrapping}
        return frozenset(each for each in find_permissions(self._tree.frames) if each[0] not in wrappers)

    @cached_property
    def _losers(self) -> Mapping[int, tuple[str, ...]]:
        """Whose balances fell: in each call that is asked about, or around one, and whoever's in those that begin."""
        entries = self._entries
        return find_losers(
            self._tree,
            self._moved,
            listed=self._listed,
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
    def _paths(self) -> Mapping[int, _Path]:
        """What lies around each of these calls: its own, and that of its caller, but not around where the payer begins.

        What a bundler calls is his own affair: he may hand an account what he owes it, so that only he has less.
        """
        found: dict[int, _Path] = {}
        for number, entry in self._entries.items():
            frame, losers = self._tree.frames[number], self._losers[number]
            around = _NO_PATH if number == entry else found[frame.parent]
            is_call = frame.kind == CALL and frame.sender not in ENTRY_POINTS
            found[number] = _Path(
                entry=entry,
                namings=(*_make_naming(frame, losers), *around.namings)[:MOST_NAMINGS],
                callers=(*around.callers[-MOST_NAMINGS:], frame.sender) if is_call else around.callers,
                maker=frame.sender if frame.kind == CALL and losers == (frame.sender,) else around.maker,
            )
        return found

    def _list_asked_and_around(self) -> set[int]:
        wanted: set[int] = set()
        for number in self._asked:
            while number >= 0 and number not in wanted:
                wanted.add(number)
                number = self._tree.frames[number].parent
        return wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Path:
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


_NO_PATH = _Path()


def _make_naming(frame: Frame, losers: tuple[str, ...]) -> Iterator[Naming]:
    """Yield what a call names; the code that it borrows, and what it makes or destroys, is no call of its own."""
    reference = frame.calldata[-REFERENCE_BYTES:]
    if frame.kind == CALL and len(reference) == REFERENCE_BYTES:
        yield Naming(reference=reference, is_own=losers == (frame.sender,), caller=frame.sender)

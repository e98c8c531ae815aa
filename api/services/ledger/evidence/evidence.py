"""What proves whose a movement of money is: the calls that it was part of, or what the transaction's calldata says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from adapters.bridges.events import BridgeEvents, Deposit
from api.domain.transfers import Naming
from api.services.ledger.evidence.movements import Movement, find_losers
from api.services.ledger.evidence.traces import CALL, CallTree, Frame
from api.services.ledger.rpc_records import REFERENCE_BYTES

MOST_NAMINGS = 32
"""Calls around a movement that are looked at, from the innermost on: an account's payment lies within a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerProof:
    """Who names something, and whose money it was; see `api.domain.ledger.Transfer`."""

    namings: tuple[Naming, ...] = ()
    sender: str = ""


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
        All that moved in it.
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
        self.movements = movements
        self.knows_coin = True
        asked = {row.frame for row in movements if row.recipient in recipients}
        self._asked = asked | {tree.frame_of_log[place] for place, event in events if isinstance(event, Deposit)}

    def proof_of(self, movement: Movement) -> PayerProof:
        """Return the call's evidence; none for what a bridge's contract paid out, at whoever's bidding."""
        return PayerProof() if movement.is_of_bridge else self._proofs[movement.frame]

    def proof_of_deposit(self, place: int, deposit: Deposit) -> PayerProof:
        """Return the evidence of the call that wrote the event."""
        return self._proofs[self._tree.frame_of_log[place]]

    def call_at(self, place: int, contract: str) -> bytes:
        """Return the calldata of the innermost call of the contract around the event."""
        number = self._tree.frame_of_log[place]
        while number >= 0:
            frame = self._tree.frames[number]
            if frame.kind == CALL and frame.recipient == contract:
                return frame.calldata
            number = frame.parent
        return b""

    @cached_property
    def _proofs(self) -> Mapping[int, PayerProof]:
        """The evidence for what moved in each call that is asked about, or around one: its own, and that of its caller.

        The sender is who alone lost something in the outermost call in which it was one: contracts through which money
        came have lost nothing in the end.
        """
        wanted = self._asked_and_around()
        losers = find_losers(self._tree, self.movements, listed=self._listed, bridges=self._bridges, wanted=wanted)
        found: dict[int, PayerProof] = {}
        for number in sorted(wanted):
            frame = self._tree.frames[number]
            around = found.get(frame.parent, PayerProof())
            found[number] = PayerProof(
                namings=(*_make_naming(frame, losers[number]), *around.namings)[:MOST_NAMINGS],
                sender=around.sender or (losers[number][0] if len(losers[number]) == 1 else ""),
            )
        return found

    def _asked_and_around(self) -> set[int]:
        wanted: set[int] = set()
        for number in self._asked:
            while number >= 0 and number not in wanted:
                wanted.add(number)
                number = self._tree.frames[number].parent
        return wanted


def _make_naming(frame: Frame, losers: tuple[str, ...]) -> Iterator[Naming]:
    """Yield what a call names; the code that it borrows, and what it makes or destroys, is no call of its own."""
    reference = frame.calldata[-REFERENCE_BYTES:]
    if frame.kind == CALL and len(reference) == REFERENCE_BYTES:
        yield Naming(reference=reference, is_own=losers == (frame.sender,))

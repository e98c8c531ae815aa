"""What proves whose a movement of money is: the calls that it was part of, or what the transaction's calldata says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

from adapters.bridges.events import BridgeEvents, Deposit
from api.domain.transfers import Naming
from api.services.ledger.evidence.call_paths import CallPaths
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import Movement
from api.services.ledger.evidence.permissions import PERMIT2, find_permissions
from api.services.ledger.evidence.traces import CALL, CallTree, find_calls_around
from api.services.ledger.rpc_records import REFERENCE_BYTES


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
    listed : Listed
        Markets, routers and bridges.
    earned : mapping of int to sequence of Movement
        What markets were given for what they paid out; see `find_earned`.
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
        listed: Listed,
        earned: Mapping[int, Sequence[Movement]],
        recipients: Collection[str],
        events: BridgeEvents,
        bridges: Collection[int],
    ) -> None:
        self._tree, self._moved, self._listed = tree, movements, listed
        self.movements = [row for row in movements if not row.is_thing]
        self.knows_coin = True
        asked = {row.frame for row in self.movements if row.recipient in recipients}
        deposited = {tree.frame_of_log[place] for place, event in events if isinstance(event, Deposit)}
        find_paths = partial(CallPaths, tree, listed=listed, earned=earned, bridges=bridges)
        self._payments = find_paths(movements, asked=asked)
        known = [row for row in movements if not (row.is_named and row.is_of_bridge)]
        self._deposits = find_paths(known, asked=deposited)

    def proof_of(self, movement: Movement) -> PayerProof:
        """Return the call's evidence; none for what a bridge's contract paid out, at whoever's bidding."""
        if movement.is_of_bridge:
            return PayerProof()
        calls = self._payments
        path = calls.paths[movement.frame]
        namings, payer = self._list_namings(movement, path.namings), calls.find_payer(path)
        if payer or not self._is_permitted(movement):
            return PayerProof(namings=namings, sender=payer, others=calls.list_others(path, payer, movement.sender))
        return PayerProof(namings=namings, sender=movement.sender)

    def proof_of_deposit(self, place: int, deposit: Deposit) -> PayerProof:
        """Return the evidence of the call that wrote the event.

        Where it is not certain who paid, it is who made the call with his own money: the bridge knows no other. Whom
        events name that are written while a bridge runs may be relayers and keepers, whom it asks.
        """
        calls = self._deposits
        path = calls.paths[self._tree.frame_of_log[place]]
        payer = calls.find_payer(path) or path.maker
        return PayerProof(namings=path.namings, sender=payer, others=calls.list_others(path, payer))

    def call_at(self, place: int, contract: str) -> bytes:
        """Return the calldata of the innermost call of the contract around the event."""
        number = self._tree.frame_of_log[place]
        while number >= 0:
            frame = self._tree.frames[number]
            if frame.kind == CALL and frame.recipient == contract:
                return frame.calldata
            number = frame.parent
        return b""

    def _list_namings(self, movement: Movement, namings: Sequence[Naming]) -> tuple[Naming, ...]:
        """Return what calls around a movement name: that by which its holder sent it is his own in any case.

        What whoever gets the money does as he gets it changes nothing: of a refund he would have it say that it is none
        (ADR 72).
        """
        frame = self._tree.frames[self._around[movement.frame]]
        is_named = frame.kind == CALL and len(frame.calldata) >= REFERENCE_BYTES
        is_senders = frame.sender == movement.sender and not movement.is_pulled and frame.sender not in self._listed
        return (replace(namings[0], is_own=True), *namings[1:]) if is_named and is_senders else tuple(namings)

    def _is_permitted(self, movement: Movement) -> bool:
        """Whether nobody but its holder lost anything, and the transaction carries his signature that lets him lose."""
        holder = movement.sender
        signed = ((movement.token_address, holder), (PERMIT2, holder))
        return self._payments.losers[0] == (holder,) and not self._permissions.isdisjoint(signed)

    @cached_property
    def _around(self) -> Sequence[int]:
        return find_calls_around(self._tree)

    @cached_property
    def _permissions(self) -> frozenset[tuple[str, str]]:
        """Whose signatures were checked, and by which contracts.

        What wraps the coin checks none: it takes any call that it does not know for a deposit.
        """
        wrappers = {row.token_address for row in self._moved if row.is_wrapping}
        return frozenset(each for each in find_permissions(self._tree.frames) if each[0] not in wrappers)

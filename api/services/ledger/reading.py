"""One mined transaction read whole: its trace where it takes one, the evidence, and the transfers that they show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import structlog

from adapters.base import AdapterError
from adapters.bridges.events import BridgeEvents, EventReader
from adapters.rpc.block import Block as Header
from adapters.rpc.single_endpoint import Asker
from api.domain.ledger import Doubt
from api.domain.transfers import CanonicalBlock, Transfer
from api.domain.watched import Watched
from api.services.ledger.evidence.calldata import CalldataEvidence, is_simple
from api.services.ledger.evidence.entries import ENTRY_POINTS
from api.services.ledger.evidence.evidence import TracedEvidence, TransactionEvidence
from api.services.ledger.evidence.listed_contracts import Listed, ListedContracts
from api.services.ledger.evidence.markets import find_earned
from api.services.ledger.evidence.movements import Movement, leave_out_points, list_token_movements
from api.services.ledger.evidence.things import list_things
from api.services.ledger.evidence.traced_movements import list_traced_movements
from api.services.ledger.evidence.traces import (
    CallTree,
    UnbelievableTrace,
    are_bridges_calls,
    is_chains_own,
    read_trace,
    trace_question,
)
from api.services.ledger.look_budgets import CauseFinder, LookBudget, take_turns
from api.services.ledger.other_words import list_others, trace_elsewhere
from api.services.ledger.transfers import Mined, Unreadable, find_transfers, read_bridge_events
from routing_engine.reference import token_registry

MOST_NOTED = 5_000

Noted = TypeVar("Noted")

log = structlog.get_logger(__name__)


class TransactionReader:
    """Reads transactions of one chain.

    Parameters
    ----------
    rpc : Asker
        Of the chain.
    bridges : sequence of EventReader
        Whose events count on it.
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(
        self, rpc: Asker, bridges: Sequence[EventReader], stopwatch: Callable[[], float] = time.monotonic
    ) -> None:
        self._rpc, self._bridges, self._stopwatch = rpc, bridges, stopwatch
        self._slow: dict[str, None] = {}
        self._payers = frozenset(address for bridge in bridges for address in bridge.contracts)
        self._listed = ListedContracts(rpc)
        self.untraced: dict[str, CanonicalBlock] = {}
        """Transactions that no trace was to be had of when they were read last, by their hashes; the newest ones."""
        self.unread: dict[str, Doubt] = {}
        """Likewise those at whose events a bridge's code failed."""
        self.put_off: dict[str, CanonicalBlock] = {}
        """Those among what was read last for whose traces the look had nothing left."""

    def read_all(
        self, mined: Iterable[Mined], watched: Watched, at: Header | None, budget: LookBudget
    ) -> list[Transfer]:
        """Return what these transactions moved to vendors and back, and what they put into bridges for them.

        What evidently pays comes first, and vendors take turns. Anybody can make a transaction whose trace has hundreds
        of megabytes, for a cent: those whose traces took long before come last, or were not to be had. What the budget
        has no trace for is read without one, and is in `put_off`.

        Parameters
        ----------
        at : CanonicalBlock, optional
            Only endpoints that have this block are asked.
        budget : LookBudget
            What the look has left.

        Raises
        ------
        AdapterError
            If no endpoint says whether what swapped in it are markets.
        """
        self.put_off, finder = {}, CauseFinder(watched, self._payers)
        causes = take_turns([(*finder.find_cause(each), each) for each in mined], lambda cause: cause[1])
        causes.sort(key=lambda cause: (self._is_slow(cause[2].transaction.tx_hash), not cause[0]))
        found: list[Transfer] = []
        for _, source, each in causes:
            found += self._read(each, watched, at, source, budget)
        return found

    def _read(
        self, mined: Mined, watched: Watched, at: Header | None, source: str, budget: LookBudget
    ) -> list[Transfer]:
        """Return what a transaction moved.

        Nothing at all where a bridge's code fails at one of its events: what seems to be a payment may be a delivery,
        or a deposit given back. It is in `unread` then.
        """
        tx_hash = mined.transaction.tx_hash
        self.unread.pop(tx_hash, None)
        try:
            events = read_bridge_events(mined, self._bridges)
            tree = self._trace(mined, at, source, budget)
            found = self._find(mined, watched, events, tree)
            if not found and (tree is not None or tx_hash in self.untraced):
                tree = self._trace_again(mined, at, source, budget)
                found = self._find(mined, watched, events, tree) if tree is not None else []
            return found
        except Unreadable as fault:
            log.exception(
                "bridge_event_not_read", chain_id=mined.chain_id, tx_hash=tx_hash, bridge=fault.bridge,
                log_index=fault.log_index, reason=str(fault),
            )  # fmt: skip
            doubt = Doubt(block=mined.block, told_by=self._rpc.answered_by, bridge=fault.bridge, tx_hash=tx_hash)
            _note_newest(self.unread, tx_hash, doubt)
            return []

    def _find(self, mined: Mined, watched: Watched, events: BridgeEvents, tree: CallTree | None) -> list[Transfer]:
        evidence = self._gather_evidence(mined, watched, events, tree)
        return find_transfers(mined, watched, self._bridges, events, evidence)

    def _gather_evidence(
        self, mined: Mined, watched: Watched, events: BridgeEvents, tree: CallTree | None
    ) -> TransactionEvidence:
        logs, listed = mined.receipt.logs, self._listed.among(mined.receipt.logs)

        def is_kept(row: Movement) -> bool:
            return row.recipient in listed or watched.is_for(row.token_address, row.recipient)

        if tree is None:
            moved = leave_out_points(list_token_movements(mined.chain_id, logs), is_kept)
            return CalldataEvidence(
                mined.chain_id,
                mined.transaction,
                mined.receipt,
                tokens=moved,
                things=_list_things(mined, (), moved, watched, listed),
                listed=listed,
                recipients=watched.payees,
                events=events,
            )
        is_bridges = are_bridges_calls(tree, self._payers)
        moved = leave_out_points(
            list_traced_movements(mined.chain_id, mined.transaction, logs, tree, is_bridges, listed), is_kept
        )
        things = _list_things(mined, tree.frame_of_log, moved, watched, listed)
        moved += [replace(row, is_of_bridge=is_bridges[row.frame]) for row in things]
        return TracedEvidence(
            tree,
            moved,
            listed=listed,
            earned=find_earned(tree, moved, logs, listed),
            recipients=watched.payees,
            events=events,
            bridges={
                number
                for number, frame in enumerate(tree.frames)
                if is_bridges[number] and (frame.parent < 0 or not is_bridges[frame.parent])
            },
        )

    def _trace(self, mined: Mined, at: Header | None, source: str, budget: LookBudget) -> CallTree | None:
        """Ask for the transaction's calls; None where it needs no trace, or where there is none to be believed.

        Whoever refused is asked again for the next transaction: a node may be busy, or be replaced.
        """
        sent = mined.transaction
        if is_simple(mined.chain_id, sent, mined.receipt):
            return None
        if not budget.take_trace(source):
            if sent.tx_hash not in self.untraced:  # what was refused before is asked for again by a hint of its own
                self.put_off[sent.tx_hash] = mined.block
            return None
        began = self._stopwatch()
        try:
            (answer,) = self._rpc.ask([trace_question(sent.tx_hash)], list, at)
            tree = read_trace(answer, sent, mined.receipt)
        except (AdapterError, UnbelievableTrace) as fault:
            log.warning("transaction_not_traced", chain_id=mined.chain_id, tx_hash=sent.tx_hash, reason=str(fault))
            _note_newest(self.untraced, sent.tx_hash, mined.block)
            return None
        finally:
            if budget.note_trace(self._stopwatch() - began):
                _note_newest(self._slow, sent.tx_hash, None)
        self.untraced.pop(sent.tx_hash, None)
        return tree

    def _trace_again(self, mined: Mined, at: Header | None, source: str, budget: LookBudget) -> CallTree | None:
        """Ask another endpoint for the calls of a transaction that names a vendor and seems to have paid nobody.

        Nothing else tells of coin in inner calls, so one could leave it out (ADR 152). None where nobody else tells.
        """
        tx_hash, others = mined.transaction.tx_hash, list_others(self._rpc)
        if others and not budget.take_trace(source):
            if tx_hash not in self.untraced:
                self.put_off[tx_hash] = mined.block
            return None
        began = self._stopwatch()
        tree = trace_elsewhere(others, mined, at)
        budget.note_trace(self._stopwatch() - began)
        if tree is not None:
            self.untraced.pop(tx_hash, None)
        return tree

    def _is_slow(self, tx_hash: str) -> bool:
        return tx_hash in self._slow or tx_hash in self.untraced


def _note_newest(noted: dict[str, Noted], tx_hash: str, value: Noted) -> None:
    noted.pop(tx_hash, None)
    noted[tx_hash] = value
    if len(noted) > MOST_NOTED:
        del noted[next(iter(noted))]


def _list_things(
    mined: Mined, frames: Sequence[int], moved: Sequence[Movement], watched: Watched, listed: Listed
) -> list[Movement]:
    """Return what changed hands beside money, and whom events name that are not known to have to do with a payment.

    Known are what is listed, the chain's own contracts, the vendor whom it pays, and the token that vendors are paid in
    if it is the only one: some tell of their holders' delegates. Beside another token, one of a stranger's may be paid
    so that what else it tells is passed over.
    """
    vendors = {mined.transaction.recipient, *(row.recipient for row in moved)} & watched.recipients
    known = listed.contracts | ENTRY_POINTS | (vendors if len(vendors) == 1 else frozenset())
    paid_in = {row.token_address for row in moved if row.recipient in watched.recipients}
    known |= paid_in if len(paid_in) == 1 else frozenset()

    def is_known(at: str) -> bool:
        return at in known or is_chains_own(at) or token_registry.info_of(mined.chain_id, at) is not None

    return list(list_things(mined.receipt.logs, frames, is_known=is_known))

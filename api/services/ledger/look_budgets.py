"""What one look may spend on transactions, most of which are strangers', and in which order it reads them.

Anybody can make transactions that name a vendor, for the gas of it. What a look does not read is put off, not dropped.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from api.domain.transfers import CanonicalBlock
from api.domain.watched import Move, Watched
from api.services.ledger.candidates import ADDRESS_BYTES, search_addresses, search_references
from api.services.ledger.evidence.movements import TRANSFER_TOPIC
from api.services.ledger.rpc_records import FoundLog, FullBlock, read_transaction
from api.services.ledger.transfers import Mined
from routing_engine.reference import token_registry

TRACES_A_LOOK, TRACES_OF_ONE = 100, 50
"""Traces for all, and for what has to do with one vendor: so two vendors' strangers leave nothing, and one's half."""
RECEIPTS_A_LOOK, RECEIPTS_OF_ONE = 400, 200
"""Receipts of transactions that only name vendors: no event tells of them, and they paid nobody openly."""
USUAL_TRACE_S, PATIENCE_S = 0.5, 3.0
"""What a trace may take for nothing, and what all may take beyond that until the rest has to wait for another look."""
MOST_KNOWN = 20_000
"""Transactions that were read before, of one chain."""

Item = TypeVar("Item")


class LookBudget:
    """What is left in one look.

    Parameters
    ----------
    is_generous : bool
        Whether it is for payments that were written down: each has its trace then, while they are quick.
    """

    def __init__(self, *, is_generous: bool = False) -> None:
        self._traces = sys.maxsize if is_generous else TRACES_A_LOOK
        self._of_one = sys.maxsize if is_generous else TRACES_OF_ONE
        self._traced = Counter[str]()
        self._receipts, self._received = RECEIPTS_A_LOOK, Counter[str]()
        self._patience_s = PATIENCE_S

    def take_trace(self, source: str) -> bool:
        """Take one more trace, if there is one for whom it is about; the first is always there."""
        if self._patience_s <= 0 or self._traces <= 0 or self._traced[source] >= self._of_one:
            return False
        self._traces -= 1
        self._traced[source] += 1
        return True

    def note_trace(self, took_s: float) -> bool:
        """Count how long a trace took; return whether that was long."""
        if took_s <= USUAL_TRACE_S:
            return False
        self._patience_s -= took_s - USUAL_TRACE_S
        return True

    def take_receipt(self, source: str) -> bool:
        """Take one more receipt, if there is one for who is named."""
        if self._receipts <= 0 or self._received[source] >= RECEIPTS_OF_ONE:
            return False
        self._receipts -= 1
        self._received[source] += 1
        return True


class ReadBefore:
    """Transactions of a chain that were read whole, so that no doubt about their blocks makes them be read again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], None] = {}
        self._recipients: frozenset[str] = frozenset()

    def begin(self, watched: Watched) -> None:
        """Forget everything once a vendor receives at another address: nothing was read for it."""
        if not watched.recipients <= self._recipients:
            self._known.clear()
        self._recipients = watched.recipients

    def note(self, tx_hash: str, block_hash: str) -> None:
        """Note one; the oldest makes room for it."""
        self._known[tx_hash, block_hash] = None
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def has(self, tx_hash: str, block_hash: str) -> bool:
        """Whether a transaction was read in this very block."""
        return (tx_hash, block_hash) in self._known

    def forget(self) -> None:
        """Forget them all: what was read may not have been written."""
        self._known.clear()


def take_turns(items: Iterable[Item], find_source: Callable[[Item], str]) -> list[Item]:
    """Return the first of each source, then the second of each, and so on."""
    before, turns = Counter[str](), []
    for item in items:
        source = find_source(item)
        turns.append((before[source], item))
        before[source] += 1
    return [item for _, item in sorted(turns, key=lambda each: each[0])]


class CauseFinder:
    """Says on whose account transactions are read, and whether that is evident.

    Parameters
    ----------
    watched : Watched
        What they are read for.
    bridges : collection of str
        The contracts whose events count.
    """

    def __init__(self, watched: Watched, bridges: Collection[str] = ()) -> None:
        self._watched, self._bridges = watched, bridges
        self._addresses, self._references = search_addresses(watched.recipients), search_references(watched.references)
        self._senders = {each.reference: each.move.sender for each in watched.refunds}

    def find_named(self, calldata: bytes) -> str:
        """Return the vendor that calldata names, or whose refund's reference it has; empty where there is none."""
        reference = self._references.find_first(calldata)
        if reference is not None:
            return self._senders[reference]
        address = self._addresses.find_first(calldata)
        return "" if address is None else "0x" + address[-ADDRESS_BYTES:].hex()

    def find_cause(self, mined: Mined) -> tuple[bool, str]:
        """Return whether it is evident that a transaction pays a vendor or pays back for one, and which vendor.

        It is where a listed token moves, the transaction's own coin does, or a bridge says so. That takes money.
        """
        sent = mined.transaction
        if sent.value and sent.recipient in self._watched.recipients:
            return True, sent.recipient or ""
        for log in mined.receipt.logs:
            found = FoundLog(log=log, tx_hash=sent.tx_hash)
            if log.topics[:1] == (TRANSFER_TOPIC,) and len(log.topics) > 2 and any(log.data):
                sender, recipient = ("0x" + topic[-40:] for topic in log.topics[1:3])
                if Move(token_address=log.address, sender=sender, recipient=recipient) in self._watched.moves:
                    return True, sender
                is_listed = token_registry.info_of(mined.chain_id, log.address) is not None
                if recipient in self._watched.recipients and is_listed:
                    return True, recipient
            elif log.address in self._bridges and found.names(self._watched.payees):
                return True, next(each for each in sorted(self._watched.payees) if found.names((each,)))
        return False, self.find_named(sent.calldata)


def allow_receipts(
    chosen: Mapping[str, FullBlock], told: Collection[str], watched: Watched, budget: LookBudget
) -> tuple[dict[str, FullBlock], list[CanonicalBlock]]:
    """Return the transactions that are read now, and the blocks of what is put off.

    What pays openly is always read: `told` is of which events tell. The others only name somebody, and take turns.
    """
    finder, allowed, naming = CauseFinder(watched), {}, []
    for tx_hash, block in chosen.items():
        sent = read_transaction(block.records[tx_hash])
        if tx_hash in told or (sent.value and sent.recipient in watched.recipients):
            allowed[tx_hash] = block
        else:
            naming.append((finder.find_named(sent.calldata), tx_hash, block))
    later = []
    for source, tx_hash, block in take_turns(naming, lambda each: each[0]):
        if budget.take_receipt(source):
            allowed[tx_hash] = block
        else:
            later.append(block.block)
    return allowed, later

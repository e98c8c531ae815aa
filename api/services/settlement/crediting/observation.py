"""What one look at a chain has shown, and what it is judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from api.domain.confirmations import Confirmations
from api.domain.env import EnvMode
from api.domain.ledger import Doubt, Head, Proof
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, list_people
from api.storage.tables import PaymentOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainObservation:
    """What one look at a chain has shown.

    Parameters
    ----------
    canonical : mapping of int to CanonicalBlock
        The blocks by which payments seen earlier are checked.
    transfers : tuple of Transfer
        Those of the blocks that were read; some may be known already.
    reached_at : datetime or None
        When the last block was mined up to which all is read, where final blocks were read again: only then a deadline
        has passed for certain.
    recipients : frozenset of str
        Where vendors receive.
    rejected : frozenset of str
        From whom nothing is taken, of those who had to do with transfers.
    proofs : mapping of (str, int) to Proof
        What has been shown of payments seen earlier, by hash and log index.
    endpoints : mapping of int to int
        How many endpoints each connected chain has; none where there is nothing to doubt.
    ends_at : int or None
        Number of the last block, once the chain is believed to be shorter than what was read of it.
    seen : frozenset of (str, int)
        Of all transfers that the look found, also where `transfers` are a portion of them.
    checked, vanished : sequence of int
        Rows of payments that are checked by `canonical` or `ends_at`, and of those that lie in another block than what
        else their transactions moved. A look that found much does a portion of each in a transaction.
    unscreened : frozenset of (str, int)
        What the look has found beside `transfers`: of whoever has to do with it nobody could say whether it is taken.
    put_off, in_vain : sequence of Doubt
        The blocks of those, where nobody was asked about them, and where the screen failed at somebody.
    """

    env_mode: EnvMode
    chain_id: int
    head: Head
    canonical: Mapping[int, CanonicalBlock]
    transfers: tuple[Transfer, ...]
    recipients: frozenset[str]
    reached_at: datetime | None = None
    rejected: frozenset[str] = frozenset()
    proofs: Mapping[TransferKey, Proof] = field(default_factory=dict)
    endpoints: Mapping[int, int] = field(default_factory=dict)
    ends_at: int | None = None
    seen: frozenset[TransferKey] = frozenset()
    checked: Sequence[int] = ()
    vanished: Sequence[int] = ()
    unscreened: frozenset[TransferKey] = frozenset()
    put_off: Sequence[Doubt] = ()
    in_vain: Sequence[Doubt] = ()

    def is_rejected(self, transfer: Transfer) -> bool:
        """Whether nothing is taken from somebody who had to do with a transfer."""
        return not self.rejected.isdisjoint(list_people(transfer))

    def confirmations(self, block_number: int) -> int:
        """Return how many blocks there are from this one to the head, both counted."""
        return self.head.block.number - block_number + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One look while it is written down: what was seen, and by what it is judged.

    Parameters
    ----------
    orders : mapping of str to PaymentOrder
        All that it concerns, locked.
    """

    observation: ChainObservation
    orders: Mapping[str, PaymentOrder]
    confirmations: Confirmations
    now: datetime

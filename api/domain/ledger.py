"""The port to the chains: what a watcher of payments asks, whether the chains are real or simulated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from api.domain.transfers import CanonicalBlock, Transfer, TransferKey
from api.domain.watched import Watched


class ChainUnavailable(Exception):
    """A chain can't be read just now, or changed while it was read; the next look does it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointState:
    """How an endpoint fared when all of its chain were compared last.

    Parameters
    ----------
    host : str
        Without the path, which may hold a key.
    answers : bool
        Whether it answered as it should.
    in_step : bool
        Whether its blocks are as new as the others', and the same.
    is_of_chain : bool
        False where it has said that it is of another chain.
    """

    host: str
    answers: bool
    in_step: bool
    is_of_chain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest block of a chain, and the number up to which nothing can change any more; None where nobody knows."""

    block: CanonicalBlock
    final_number: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A block that may hold more than was said of it; `told_by` is the host of the endpoint that said it.

    Where a bridge's code could not read a transaction in it, `bridge` and `tx_hash` name the two.
    """

    block: CanonicalBlock
    told_by: str
    bridge: str = ""
    tx_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a range of blocks holds, as one endpoint says.

    `doubts` are the blocks whose blooms allow for more, or in which a transaction could not be read; `untraced` the
    hashes of transactions that no trace was to be had of: who paid in them may be told later. `put_off` are the blocks
    of transactions for which this look had no time left.
    """

    transfers: tuple[Transfer, ...]
    doubts: tuple[Doubt, ...] = ()
    untraced: tuple[str, ...] = ()
    put_off: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What became of doubts: what the settled blocks hold, and the numbers of those that are in doubt no more.

    `put_off` are the numbers of those that were begun, and go on in the next look; `untraced` is as in a `Reading`.
    """

    transfers: tuple[Transfer, ...] = ()
    settled: frozenset[int] = frozenset()
    put_off: frozenset[int] = frozenset()
    untraced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a transaction was mined, and whether it has to do with what is watched at all.

    `is_read` says that it was read whole there, so that there is nothing more to learn of it.
    """

    block: CanonicalBlock
    is_relevant: bool
    is_read: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """How far a transfer is proven; what can't be had just now is not there.

    Parameters
    ----------
    has_receipt_proof : bool
        Whether all receipts of its block hash to the block's receipts root, its transaction to the transactions root,
        and that header to the block's hash; of an inner transfer only the transaction itself is proven by that.
    has_second_opinion : bool
        Whether two endpoints say the same of what moved, asked apart.
    has_second_naming : bool
        Whether two endpoints also say the same of whom it names.
    is_contradicted : bool
        Whether an endpoint that has its block, or the block's own receipts, say otherwise. While they do it must not
        count.
    is_refuted : bool
        Whether several endpoints, all of them, have its block and say that nothing moved there.
    transfer : Transfer or None
        The transfer as it was proven or agreed on. What it names may differ from what one endpoint said at first, so
        whose it is has to follow from this one. So may what moved: then there is another transfer at this place.
    """

    has_receipt_proof: bool = False
    has_second_opinion: bool = False
    has_second_naming: bool = False
    is_contradicted: bool = False
    is_refuted: bool = False
    transfer: Transfer | None = None

    @property
    def is_certain(self) -> bool:
        """Whether its transfer is to be believed, whatever was said before."""
        return not self.is_contradicted and (self.has_receipt_proof or self.has_second_opinion)


class Ledger(Protocol):
    """Chains that can be watched.

    No method takes an order: the cost of watching does not depend on how many are open. All that ask a chain raise
    `ChainUnavailable` if it does not answer. Different chains may be asked at the same time; one chain is asked one
    thing after the other, and its head first in every look.
    """

    span: int
    """How many blocks one call of `transfers` may cover."""
    is_simulated: bool
    """Whether the chains are tables of this service: none of them hangs, and no real wallet pays on them."""

    @property
    def chain_ids(self) -> frozenset[int]:
        """The chains that are connected, whether they answer just now or not."""
        ...

    def read_head(self, chain_id: int) -> Head:
        """Return the head of a chain; every block up to it can be read."""
        ...

    def list_still(self, reached: Mapping[int, int]) -> frozenset[int]:
        """Return the chains that are known to hold nothing new after a block, and to have taken nothing back.

        Parameters
        ----------
        reached : mapping of int to int
            The block up to which each chain has been read.
        """
        ...

    def count_requests(self, chain_id: int) -> int:
        """Return how many requests this process has sent for a chain; a batch is one."""
        ...

    def read_blocks(self, chain_id: int, numbers: Collection[int]) -> Mapping[int, CanonicalBlock]:
        """Return the canonical blocks with these numbers; one beyond the head is left out."""
        ...

    def find_block_at(self, chain_id: int, moment: datetime) -> int:
        """Return the number of the first block mined at `moment` or later."""
        ...

    def accepts_signature(self, chain_id: int, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Say whether an account has signed a digest: by its key, or as its contract says (ERC-1271).

        A contract is asked in block `number` and in the newest one, and must say so in both.
        """
        ...

    def count_endpoints(self, chain_id: int) -> int:
        """Return how many endpoints a chain has: with one, nobody else can be asked for a second opinion."""
        ...

    def list_endpoints(self, chain_id: int) -> Sequence[EndpointState]:
        """Return how a chain's endpoints fare, in the order of the settings; none where it is tables."""
        ...

    def can_trace(self, chain_id: int) -> bool | None:
        """Whether an endpoint traces transactions; it is asked now and then. None while that is not known."""
        ...

    def read(self, chain_id: int, first: int, last: int, watched: Watched) -> Reading:
        """Return what moved in the blocks ``first … last``, oldest first.

        That is every transfer to a vendor, what is sent back as it was looked for, and whatever a bridge took in or
        gave back with a reference.
        """
        ...

    def search(self, chain_id: int, first: int, last: int, watched: Watched) -> tuple[Transfer, ...]:
        """Return what the events of blocks that are read again tell of transfers that matter."""
        ...

    def settle(self, chain_id: int, doubts: Collection[Doubt], watched: Watched) -> Settlement:
        """Find out what doubtful blocks hold, by their receipts or by another endpoint.

        A block that is not canonical any more holds nothing, and is settled.
        """
        ...

    def forget_read(self, chain_id: int) -> None:
        """Read everything again that a doubt is about: what a look has read was not written."""
        ...

    def prove(self, chain_id: int, transfers: Collection[Transfer], watched: Watched) -> Mapping[TransferKey, Proof]:
        """Return how far each transfer is proven; `references` and `namings` of what is given need not be known.

        `watched` is what the blocks were read for.
        """
        ...

    def find_places(self, chain_id: int, hashes: Collection[str], watched: Watched) -> Mapping[str, Place]:
        """Return where these transactions were mined; those that the chain does not know are left out."""
        ...

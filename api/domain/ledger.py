"""The port to the chains: what a watcher of payments asks, whether the chains are real or simulated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class TransferKind(StrEnum):
    """What a transfer means to an order.

    ``payment`` reached a settlement address; ``deposit`` went into a bridge on the chain the payer paid from;
    ``redirected`` is what a bridge delivered for a deposit to somebody who is no vendor here, amount 0;
    ``bridge_refund`` came back out of it there because the route failed; ``refund`` is what the merchant sent back.
    """

    PAYMENT = "payment"
    DEPOSIT = "deposit"
    REDIRECTED = "redirected"
    BRIDGE_REFUND = "bridge_refund"
    REFUND = "refund"


COIN_TRANSFER = -1
"""`Transfer.log_index` of the chain's own coin, sent along with a transaction: no event tells of it."""
FIRST_INNER_TRANSFER = -2
"""`Transfer.log_index` of coin that the first call within a transaction sent; the next one has one less, and so on."""


class ChainUnavailable(Exception):
    """A chain can't be read just now, or changed while it was read; the next look does it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block that is canonical at the moment of asking."""

    number: int
    hash: str
    mined_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest block of a chain, and the number up to which nothing can change any more."""

    block: Block
    final_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """The last 16 bytes of the calldata of a call within which money moved: they may name an order or a refund.

    Parameters
    ----------
    reference : bytes
        The 16 bytes.
    is_own : bool
        Whether every address whose balance fell in that call, calls within it included, is the call's own sender;
        listed markets, routers and bridges do not count. Only then the call was made by whose money it was.
    """

    reference: bytes
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a bridge is to deliver for a deposit: at least `amount` smallest units of a token, to whom and where.

    `only` says who alone may deliver it, or that there are other terms than the plain ones; empty where there are none.
    """

    chain_id: int
    token_address: str
    recipient: str
    amount: int
    only: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Tokens that moved in a block.

    Parameters
    ----------
    log_index : int
        Of the event that tells of it, `COIN_TRANSFER`, or at most `FIRST_INNER_TRANSFER`.
    token_address, sender, recipient : str
        In lower case; the sender is the one address whose money left, not a contract through which it came; empty
        where that can't be told, or is more than one.
    amount : int
        Smallest units.
    namings : tuple of Naming
        One for each call that the movement was part of and that may name something, the innermost first.
    is_inner : bool
        Whether only a trace shows it: coin that a call within the transaction sent.
    promise : Promise or None
        Of a deposit into a bridge.
    bridge_id : str
        What a bridge's own events call this deposit, and what left it for that deposit elsewhere; else empty.
    fill_deadline : datetime or None
        Of a deposit: the bridge delivers until then, or gives it back.
    source_chain_id, source_tx_hash : int and str, or None
        For what left a bridge: the deposit that it answers, where the chain itself names it.
    """

    kind: TransferKind
    chain_id: int
    block: Block
    tx_hash: str
    log_index: int
    token_address: str
    sender: str
    recipient: str
    amount: int
    namings: tuple[Naming, ...] = ()
    is_inner: bool = False
    promise: Promise | None = None
    bridge_id: str = ""
    fill_deadline: datetime | None = None
    source_chain_id: int | None = None
    source_tx_hash: str | None = None


TransferKey = tuple[str, int]
"""What tells a chain's transfers apart: `Transfer.tx_hash` and `Transfer.log_index`."""


def key_of(transfer: Transfer) -> TransferKey:
    """Return what tells a chain's transfers apart."""
    return transfer.tx_hash, transfer.log_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A block that may hold more than was said of it; `told_by` is the host of the endpoint that said it."""

    block: Block
    told_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a range of blocks holds, as one endpoint says.

    `doubts` are the blocks whose blooms allow for more, `untraced` the hashes of transactions that no trace was to be
    had of: who paid in them may be told later.
    """

    transfers: tuple[Transfer, ...]
    doubts: tuple[Doubt, ...] = ()
    untraced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What became of doubts: what the settled blocks hold, and the numbers of those that are in doubt no more."""

    transfers: tuple[Transfer, ...] = ()
    settled: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a transaction was mined, and whether it has to do with one of the recipients at all."""

    block: Block
    is_relevant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """How far a transfer is proven; what can't be had just now is not there.

    Parameters
    ----------
    has_receipt_proof : bool
        Whether all receipts of its block hash to the block's receipts root, its transaction to the transactions root,
        and that header to the block's hash; of an inner transfer only the transaction itself is proven by that.
    has_second_opinion : bool
        Whether two endpoints say the same of it, asked apart.
    is_contradicted : bool
        Whether an endpoint that has its block, or the block's own receipts, say otherwise. While they do it must not
        count.
    transfer : Transfer or None
        The transfer as it was proven or agreed on. What it names may differ from what one endpoint said at first, so
        whose it is has to follow from this one.
    """

    has_receipt_proof: bool = False
    has_second_opinion: bool = False
    is_contradicted: bool = False
    transfer: Transfer | None = None


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

    def head(self, chain_id: int) -> Head:
        """Return the head of a chain; every block up to it can be read."""
        ...

    def requests(self, chain_id: int) -> int:
        """Return how many requests this process has sent for a chain; a batch is one."""
        ...

    def blocks(self, chain_id: int, numbers: Collection[int]) -> Mapping[int, Block]:
        """Return the canonical blocks with these numbers; one beyond the head is left out."""
        ...

    def block_at(self, chain_id: int, moment: datetime) -> int:
        """Return the number of the first block mined at `moment` or later."""
        ...

    def accepts_signature(self, chain_id: int, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Say whether an account has signed a digest: by its key, or as its contract says (ERC-1271).

        A contract is asked in block `number` and in the newest one, and must say so in both.
        """
        ...

    def endpoint_count(self, chain_id: int) -> int:
        """Return how many endpoints a chain has: with one, nobody else can be asked for a second opinion."""
        ...

    def can_trace(self, chain_id: int) -> bool | None:
        """Whether an endpoint traces transactions; it is asked now and then. None while that is not known."""
        ...

    def read(self, chain_id: int, first: int, last: int, recipients: Collection[str]) -> Reading:
        """Return what moved in the blocks ``first … last``, oldest first.

        That is every transfer to one of `recipients`, and whatever a bridge took in or gave back with a reference.
        """
        ...

    def search(self, chain_id: int, first: int, last: int, recipients: Collection[str]) -> tuple[Transfer, ...]:
        """Return what the events of blocks that are read again tell of transfers to `recipients`."""
        ...

    def settle(self, chain_id: int, doubts: Collection[Doubt], recipients: Collection[str]) -> Settlement:
        """Find out what doubtful blocks hold, by their receipts or by another endpoint.

        A block that is not canonical any more holds nothing, and is settled.
        """
        ...

    def prove(
        self, chain_id: int, transfers: Collection[Transfer], recipients: Collection[str]
    ) -> Mapping[TransferKey, Proof]:
        """Return how far each transfer is proven; `references` and `namings` of what is given need not be known.

        `recipients` are those for whom the blocks were read.
        """
        ...

    def places(self, chain_id: int, hashes: Collection[str], recipients: Collection[str]) -> Mapping[str, Place]:
        """Return where these transactions were mined; those that the chain does not know are left out."""
        ...

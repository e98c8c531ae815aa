"""Money that moved on a chain, as the payment domain sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from adapters.bridges.promise import Promise


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


DELIVERIES = frozenset({TransferKind.PAYMENT, TransferKind.REDIRECTED})
"""What a bridge may deliver for a deposit."""
COIN_TRANSFER = -1
"""`Transfer.log_index` of the chain's own coin, sent along with a transaction: no event tells of it."""
FIRST_INNER_TRANSFER = -2
"""`Transfer.log_index` of coin that the first call within a transaction sent; the next one has one less, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalBlock:
    """A block that is canonical at the moment of asking."""

    number: int
    hash: str
    mined_at: datetime


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
    caller : str
        Who made the call, in lower case.
    """

    reference: bytes
    is_own: bool
    caller: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Tokens that moved in a block.

    Parameters
    ----------
    log_index : int
        Of the event that tells of it among those of its own transaction, from 0; `COIN_TRANSFER`, or at most
        `FIRST_INNER_TRANSFER`. Chains number a block's events, and a transaction that is mined again has others before.
    token_address, sender, recipient : str
        In lower case; the sender is who paid, not a contract through which the money came. It is empty where that is
        not certain: nobody may sign for the transfer then, and nobody gets it back without being named.
    amount : int
        Smallest units.
    others : tuple of str
        Who else had to do with it: whoever made the calls that moved it, or lost something in them.
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
    block: CanonicalBlock
    tx_hash: str
    log_index: int
    token_address: str
    sender: str
    recipient: str
    amount: int
    others: tuple[str, ...] = ()
    namings: tuple[Naming, ...] = ()
    is_inner: bool = False
    promise: Promise | None = None
    bridge_id: str = ""
    fill_deadline: datetime | None = None
    source_chain_id: int | None = None
    source_tx_hash: str | None = None


TransferKey = tuple[str, int]
"""What tells a chain's transfers apart: `Transfer.tx_hash` and `Transfer.log_index`."""


def list_people(transfer: Transfer) -> frozenset[str]:
    """Return all who had to do with a transfer on the side of whoever paid it: whom screening asks about."""
    return frozenset((transfer.sender, *transfer.others)) - {""}


def get_key(transfer: Transfer) -> TransferKey:
    """Return what tells a chain's transfers apart."""
    return transfer.tx_hash, transfer.log_index


def moves_the_same(one: Transfer, other: Transfer) -> bool:
    """Whether two transfers at the same place are of the same money: the token, how much of it, and to whom."""
    moved = one.token_address, one.recipient, one.amount
    return moved == (other.token_address, other.recipient, other.amount)

"""What a paying transaction is made from, and what somebody offers who can build one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from adapters.transactions.decoded import CallReader
from adapters.transactions.intermediaries import Intermediaries
from routing_engine.model import Hop, Token


class CannotBuild(Exception):
    """No transaction does this; the message says why."""


class Purpose(StrEnum):
    """What a transaction is for: take back an old allowance, give the exact one, or pay."""

    RESET = "reset_allowance"
    APPROVE = "approve"
    PAY = "pay"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHop:
    """A hop that a payment is going to take.

    Parameters
    ----------
    hop : Hop
        Protocol, tokens and amounts.
    fee_pips : int
        The pool's fee where contracts choose a pool by it; 0 elsewhere.
    tick_spacing : int
        The pool's, likewise.
    """

    hop: Hop
    fee_pips: int = 0
    tick_spacing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who pays whom, how much, and until when.

    Parameters
    ----------
    payer, recipient : str
        Addresses in lower case, on the first and on the last chain.
    amount_in_max : int
        The most that may be spent, smallest units of the first token.
    amount_out : int
        What must arrive, smallest units of the last token.
    deadline : int
        Seconds since 1970 after which contracts refuse.
    reference : bytes
        What names the order, for messages that carry it; whether or not it stands behind the calldata as well.
    firm : mapping of str to object
        What the bridge confirmed for this payment; see `adapters.base.FirmQuote.terms`. Empty without a bridge.
    spends_all : bool
        Whether all of `amount_in_max` is to be spent, and `amount_out` is the least that must arrive. A builder that
        can only fix the output may spend less.
    """

    payer: str
    recipient: str
    amount_in_max: int
    amount_out: int
    deadline: int
    reference: bytes = b""
    firm: Mapping[str, object] = field(default_factory=dict)
    spends_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """An allowance that a call needs: how much of which token a contract takes from the payer.

    Parameters
    ----------
    token, spender, amount : Token, str and int
        Of what, who, how much in smallest units.
    user : str
        For whom the spender takes it, where that is Permit2; empty where it takes it for itself.
    until : int
        Seconds since 1970 up to which the user may have it taken.
    """

    token: Token
    spender: str
    amount: int
    user: str = ""
    until: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentCall:
    """The call that pays, before anything is appended to it.

    Parameters
    ----------
    chain_id : int
        Where it is sent.
    to : str
        Contract, or recipient of the chain's coin; lower case.
    data : bytes
        Calldata.
    value : int
        Wei sent along.
    spending : Spending or None
        The allowance it needs.
    fill_deadline : int or None
        Of a deposit that is filled, seconds since 1970 until which it may be; None where there is no such moment.
    relayer : str
        Who alone may fill it; empty where anybody may.
    """

    chain_id: int
    to: str
    data: bytes
    value: int = 0
    spending: Spending | None = None
    fill_deadline: int | None = None
    relayer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction for the payer's wallet.

    Parameters
    ----------
    purpose : Purpose
        What it is for.
    chain_id, to, value, data : int, str, int and bytes
        As `PaymentCall`.
    gas : int or None
        Gas limit to set; None where it could not be estimated yet.
    """

    purpose: Purpose
    chain_id: int
    to: str
    value: int = 0
    data: bytes = b""
    gas: int | None = None


class PaymentBuilder(Protocol):
    """Builds the one call that pays over the markets of some protocols."""

    protocols: frozenset[str]
    """Protocols of the hops that one call can take together; beside wrapping, where `can_build` says so."""
    crosses_chains: bool
    """Whether what it builds ends on another chain than it begins on."""

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether one call takes these hops and delivers to the recipient; no input or output."""
        ...

    def build(self, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
        """Return that call; a pure function.

        Raises
        ------
        CannotBuild
            If there is none.
        """
        ...

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads the calls back that it makes on a chain, by the contract that is called; none by default.

        What such a call pays must follow from the contract's code alone, whatever the tokens in it do.
        """
        return {}

    def find_intermediaries(self, chain_id: int) -> Intermediaries:
        """Return what its payments pass through on a chain, beside the contracts that they call; nothing by default.

        A payment is credited to the payer because what these have is nobody's. So a builder that ends on the chain it
        begins on is offered only where it names some. One that crosses chains is credited by its bridge's events.
        """
        return Intermediaries()

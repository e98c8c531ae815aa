"""From a route to the transactions that a payer signs: who builds the call, and what goes before and behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from adapters.base import load_installed
from adapters.transactions.base import (
    CannotBuild,
    PaymentBuilder,
    PaymentCall,
    PlannedHop,
    Purpose,
    Terms,
    Transaction,
)
from adapters.transactions.decoded import REFERENCE_BYTES, CallReader
from adapters.transactions.erc20 import build_approvals, make_transfer
from adapters.transactions.permit2 import build_grants
from routing_engine.model import Token

ENTRY_POINTS = "routing_engine.payments"


class PaymentBuilders:
    """Knows who builds the call for which hops.

    Parameters
    ----------
    builders : iterable of PaymentBuilder
        The first that can is asked.
    """

    def __init__(self, builders: Iterable[PaymentBuilder]) -> None:
        self._builders = tuple(builders)

    @classmethod
    def load(cls) -> PaymentBuilders:
        """Return the builders that installed packages offer.

        Together they build everything that one signature pays and that delivers by itself: over bridges, and over
        what the group ``routing_engine.payments`` names.
        """
        found: Iterable[Callable[[], Iterable[PaymentBuilder]]] = load_installed("payments", ENTRY_POINTS).values()
        return cls(builder for make_builders in found for builder in make_builders())

    def list_families(self, *, crosses_chains: bool) -> tuple[frozenset[str], ...]:
        """Protocols that one call can take together, a set for each builder of payments to here or to elsewhere."""
        return tuple(builder.protocols for builder in self._builders if builder.crosses_chains == crosses_chains)

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether one call takes these hops."""
        return any(builder.can_build(hops) for builder in self._builders)

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads the calls of all builders on a chain back, by the contract that is called."""
        return {
            contract: read for each in self._builders for contract, read in each.find_call_readers(chain_id).items()
        }

    def build(self, hops: tuple[PlannedHop, ...], token: Token, terms: Terms) -> PaymentCall:
        """Return the call that pays; without hops a transfer of `token`.

        Raises
        ------
        CannotBuild
            If no single call takes these hops.
        """
        if not hops:
            return make_transfer(token, terms.recipient, terms.amount_out)
        for builder in self._builders:
            if builder.can_build(hops):
                return builder.build(hops, terms)
        raise CannotBuild("no single transaction takes this route")


def append_reference(call: PaymentCall, reference: bytes) -> PaymentCall:
    """Append an order's reference to the calldata: contracts read no further than their arguments.

    Raises
    ------
    ValueError
        If it has not the length that watchers look for.
    """
    if len(reference) != REFERENCE_BYTES:
        raise ValueError(f"a reference must have {REFERENCE_BYTES} bytes, not {len(reference)}")
    return replace(call, data=call.data + reference)


def list_transactions(call: PaymentCall, allowance: int, granted: int = 0) -> tuple[Transaction, ...]:
    """Return what to sign, in order: the allowances where they are too small, then the payment.

    Parameters
    ----------
    call : PaymentCall
        The payment.
    allowance : int
        What its spender may take now; of no matter where it needs none.
    granted : int
        What the spender takes for its user now; of no matter where it takes it for itself.
    """
    spending = call.spending
    before = (*build_approvals(spending, allowance), *build_grants(spending, granted)) if spending else ()
    return (
        *before,
        Transaction(purpose=Purpose.PAY, chain_id=call.chain_id, to=call.to, value=call.value, data=call.data),
    )

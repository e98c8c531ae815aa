"""From a route to the transactions that a payer signs: who builds the call, and what goes before and behind it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from adapters.installed import load_installed
from adapters.transactions.base import (
    CannotBuild,
    PaymentBuilder,
    PaymentCall,
    PlannedHop,
    Purpose,
    Terms,
    Transaction,
)
from adapters.transactions.decoded import REFERENCE_BYTES, CallReader, DecodedPayment
from adapters.transactions.erc20 import build_approvals, make_transfer
from adapters.transactions.intermediaries import Intermediaries
from adapters.transactions.permit2 import build_grants
from routing_engine.model import Token

logger = logging.getLogger(__name__)

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
        return cls(builder for name, make_builders in _load_makers() for builder in _make(name, make_builders))

    def list_families(self, chain_id: int, *, crosses_chains: bool) -> tuple[frozenset[str], ...]:
        """Protocols that one call on a chain can take together, a set for each builder of payments to here or away."""
        return tuple(
            builder.protocols
            for builder in self._list_offered(chain_id)
            if builder.crosses_chains == crosses_chains and builder.protocols
        )

    def can_build(self, hops: tuple[PlannedHop, ...]) -> bool:
        """Whether one call takes these hops."""
        return self._find_builder(hops) is not None

    def find_call_readers(self, chain_id: int) -> Mapping[str, CallReader]:
        """Return what reads the calls of all builders on a chain back, by the contract that is called."""
        found: dict[str, list[CallReader]] = defaultdict(list)
        for builder in self._list_offered(chain_id):
            for contract, read in builder.find_call_readers(chain_id).items():
                found[contract].append(read)
        return {contract: partial(_read_by_first, tuple(readers)) for contract, readers in found.items()}

    def find_intermediaries(self, chain_id: int) -> Intermediaries:
        """Return all that the payments of these builders pass through on a chain; see `PaymentBuilder`."""
        found = [builder.find_intermediaries(chain_id) for builder in self._builders]
        return Intermediaries(
            contracts=tuple(dict.fromkeys(told for each in found for told in each.contracts)),
            factories=tuple(dict.fromkeys(factory for each in found for factory in each.factories)),
            vaults=tuple(dict.fromkeys(vault for each in found for vault in each.vaults)),
        )

    def build(self, hops: tuple[PlannedHop, ...], token: Token, terms: Terms) -> PaymentCall:
        """Return the call that pays; without hops a transfer of `token`.

        Raises
        ------
        CannotBuild
            If no single call takes these hops.
        """
        if not hops:
            return make_transfer(token, terms.recipient, terms.amount_out)
        builder = self._find_builder(hops)
        if builder is None:
            raise CannotBuild("no single transaction takes this route")
        return builder.build(hops, terms)

    def _find_builder(self, hops: tuple[PlannedHop, ...]) -> PaymentBuilder | None:
        if not hops:
            return None
        offered = self._list_offered(hops[0].hop.token_in.chain_id)
        return next((builder for builder in offered if builder.can_build(hops)), None)

    def _list_offered(self, chain_id: int) -> Iterator[PaymentBuilder]:
        """Yield the builders whose payments on a chain are credited: nobody is offered to pay otherwise."""
        return (each for each in self._builders if each.crosses_chains or each.find_intermediaries(chain_id))


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


def _make(name: str, make_builders: Callable[[], Iterable[PaymentBuilder]]) -> tuple[PaymentBuilder, ...]:
    """Return an entry point's builders; where its code fails nobody is offered to pay over it, and the others go on."""
    try:
        return tuple(make_builders())
    except Exception:
        logger.exception("the payments of the entry point %s cannot be built", name)
        return ()


def _load_makers() -> Iterator[tuple[str, Callable[[], Iterable[PaymentBuilder]]]]:
    """Yield what makes builders: that of bridges, and of what is no bridge those that stay on their chain.

    Who crosses chains is credited by a bridge's events, and only a `Bridge` has them.
    """
    bridges = load_installed("payments")
    for name, make_builders in load_installed("payments", ENTRY_POINTS).items():
        yield name, make_builders if name in bridges else partial(_make_local, name, make_builders)


def _make_local(name: str, make_builders: Callable[[], Iterable[PaymentBuilder]]) -> Iterator[PaymentBuilder]:
    for builder in make_builders():
        if builder.crosses_chains:
            raise ValueError(
                f"the entry point {name!r} in {ENTRY_POINTS} pays across chains: it must be the `payments` of a Bridge,"
                " whose events credit it"
            )
        yield builder


def _read_by_first(readers: tuple[CallReader, ...], contract: str, calldata: bytes) -> DecodedPayment | None:
    """Return what the first reader reads that knows such a call: several builders may call one router."""
    return next((found for read in readers if (found := read(contract, calldata)) is not None), None)

"""The conformance suite for builders of payments, and for readers of bridges' events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adapters.base import BadPayload
from adapters.bridges.events import Delivery, Deposit, EventReader
from adapters.rpc.abi import Log
from adapters.testing.probe import NotConforming
from adapters.transactions.base import PaymentBuilder, PaymentCall, PlannedHop, Terms
from adapters.transactions.payment_builders import PaymentBuilders, append_reference

REFERENCE = bytes(range(1, 17))


def check_payments(builder: PaymentBuilder, hops: tuple[PlannedHop, ...], terms: Terms) -> PaymentCall:
    """Check that what a builder makes of some hops is offered, and says itself what it pays; return the call.

    Raises
    ------
    NotConforming
        If it is not offered, differs the second time, or is not read back as just this payment.
    """
    first, last = hops[0].hop.token_in, hops[-1].hop.token_out
    builders = PaymentBuilders([builder])
    _require(builders.can_build(hops), "it is not offered: can_build is no, or find_intermediaries names nothing")
    call = builders.build(hops, first, terms)
    _require(call == builders.build(hops, first, terms), "build gives something else the second time")
    _require(call.chain_id == first.chain_id, "the call is for another chain than the first token's")
    for each in (call, builders.build(hops, first, replace(terms, spends_all=True))):
        spent = each.value if first.is_native else each.spending.amount if each.spending else 0
        _require(0 < spent <= terms.amount_in_max, "the call spends nothing, or more than it may")
    readers = builder.find_call_readers(call.chain_id)
    if not readers:
        return call
    _require(call.to in readers, "find_call_readers does not name the contract that is called")
    said = readers[call.to](call.to, append_reference(call, REFERENCE).data)
    if said is None:
        raise NotConforming(f"{type(builder).__name__}: the call is not read back")
    _require(said.reference == REFERENCE, "the reference behind the call is not read back")
    _require(said.recipient == terms.recipient, "another recipient is read back")
    _require(said.is_deposit == builder.crosses_chains, "a deposit is one that crosses chains, and nothing else is")
    if not said.is_deposit:
        paid = (last.address, terms.amount_out)
        _require((said.token_address, said.amount) == paid, "another token or amount is read back")
    _require(readers[call.to](call.to, call.data[:-1]) is None, "a call that is cut off is read back")
    return call


def check_events(origin: EventReader, sent: Log, destination: EventReader, delivered: Log) -> None:
    """Check that a bridge's readers put a deposit and its delivery together, and refuse what is cut off.

    Parameters
    ----------
    origin, sent : EventReader and Log
        The deposit's chain, and its event there.
    destination, delivered : EventReader and Log
        The delivery's.

    Raises
    ------
    NotConforming
        If the two have different names, or a log that is cut off is read, or raises anything but `BadPayload`.
    """
    for reader, log in ((origin, sent), (destination, delivered)):
        _require(log.address in reader.contracts, "the event's contract is not one of `contracts`")
        _require(log.topics[0] in reader.topics, "the event's first topic is not one of `topics`")
        for cut in _cut(log):
            _check_refused(reader, cut)
    deposit, delivery = origin.read(sent), destination.read(delivered)
    if not isinstance(deposit, Deposit) or not isinstance(delivery, Delivery):
        raise NotConforming(f"a Deposit and a Delivery must be read, not {deposit!r} and {delivery!r}")
    _require(deposit.bridge_id == delivery.bridge_id, "deposit and delivery have different names")
    found_by = deposit.delivery_topics
    _require(delivered.topics[: len(found_by)] == found_by, "the delivery is not found by `delivery_topics`")
    _require(isinstance(origin.complete(deposit, b""), Deposit), "complete fails where the call is not known")


def _cut(log: Log) -> Sequence[Log]:
    return [replace(log, data=b""), replace(log, data=log.data[:-32]), replace(log, topics=log.topics[:1], data=b"")]


def _check_refused(reader: EventReader, log: Log) -> None:
    try:
        read = reader.read(log)
    except BadPayload:
        return
    except Exception as fault:
        raise NotConforming(f"{type(reader).__name__}: {type(fault).__name__} for an event that is cut off") from fault
    _require(read is None, "an event that is cut off is read")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise NotConforming(message)

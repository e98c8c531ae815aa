"""From a mined transaction and its evidence to the transfers that matter: tokens, the coin, what bridges did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from adapters.bridges.events import BridgeEvents, BridgeRefund, Delivery, Deposit, EventReader, name_reader
from adapters.rpc.abi import Log
from api.domain.transfers import FIRST_INNER_TRANSFER, CanonicalBlock, Transfer, TransferKind
from api.domain.watched import Watched
from api.services.ledger.evidence.evidence import PayerProof, TransactionEvidence
from api.services.ledger.evidence.movements import TRANSFER_TOPIC, Movement, find_wrapped_coin
from api.services.ledger.evidence.taken_again import find_taken_again
from api.services.ledger.rpc_records import ChainTransaction, Receipt
from routing_engine.model import NATIVE_ADDRESS

__all__ = ["TRANSFER_TOPIC", "Mined", "Unreadable", "find_transfers", "make_topic", "read_bridge_events"]

Read = TypeVar("Read")


class Unreadable(Exception):
    """A bridge's code failed at one of its events, so that nobody can say what the transaction means.

    Parameters
    ----------
    bridge : str
        Whose code.
    log : Log
        The event.
    fault : Exception
        What it raised.
    """

    def __init__(self, bridge: str, log: Log, fault: Exception) -> None:
        super().__init__(f"{bridge} cannot read event {log.index}: {type(fault).__name__}: {fault}")
        self.bridge, self.log_index = bridge, log.index


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A successful transaction in its block, with what it left behind."""

    chain_id: int
    block: CanonicalBlock
    transaction: ChainTransaction
    receipt: Receipt


def make_topic(address: str) -> str:
    """Return an address as an event's topic."""
    return "0x" + "00" * 12 + address[2:]


def read_bridge_events(mined: Mined, bridges: Sequence[EventReader]) -> BridgeEvents:
    """Return what bridges say in a transaction, by the place among its logs.

    Raises
    ------
    Unreadable
        If a bridge's code fails at one of them.
    """
    return [
        (place, event)
        for place, log in enumerate(mined.receipt.logs)
        for bridge in bridges
        if _is_of(log, bridge) and (event := _ask_bridge(bridge, log, partial(bridge.read, log))) is not None
    ]


def find_transfers(
    mined: Mined,
    watched: Watched,
    bridges: Sequence[EventReader],
    events: BridgeEvents,
    evidence: TransactionEvidence,
) -> list[Transfer]:
    """Return what the transaction moved to vendors and back, and what it put into bridges, in the order of its events.

    Parameters
    ----------
    events : sequence of (int, BridgeEvent)
        See `read_bridge_events`.
    evidence : Evidence
        Of what moved.

    Raises
    ------
    Unreadable
        If a bridge's code fails at one of them.
    """
    delivered = dict(_list_deliveries(mined, watched, events, evidence))
    taken = find_taken_again(mined.chain_id, mined.receipt.logs)
    bridge_refunds = {event.contract for _, event in events if isinstance(event, BridgeRefund)}
    found: list[Transfer] = list(delivered.values())
    for movement in evidence.movements:
        if not watched.is_for(movement.token_address, movement.recipient) or movement in delivered:
            continue
        if movement.sender in bridge_refunds:
            found.append(
                _make_transfer(mined, movement, PayerProof(sender=movement.sender), TransferKind.BRIDGE_REFUND)
            )
        elif not movement.is_wrapping:
            found.append(_make_transfer(mined, movement, evidence.proof_of(movement)))
    for place, event in events:
        if isinstance(event, Deposit):
            found += _make_deposit(mined, place, event, watched, bridges, evidence)
        elif isinstance(event, Delivery) and event.meant_for in watched.recipients:
            found.append(_list_redirected(mined, place, event))
    left = (replace(row, amount=row.amount - taken.get(row.log_index, 0)) for row in found)
    return sorted(left, key=lambda row: row.log_index)


def _list_deliveries(
    mined: Mined, watched: Watched, events: BridgeEvents, evidence: TransactionEvidence
) -> Iterator[tuple[Movement, Transfer]]:
    """Yield what recipients received in each delivery that a bridge tells of.

    A relayer's calldata is the relayer's business: only the bridge says whose money this is, and of what its depositor
    redirected it says nothing for those who waited for it.
    """
    taken: set[Movement] = set()
    for place, event in events:
        if not isinstance(event, Delivery) or event.recipient not in watched.recipients:
            continue
        movement = _list_received(mined, place, event, events, evidence, taken)
        if movement is None:
            continue
        taken.add(movement)
        transfer = _make_transfer(mined, movement, PayerProof())
        if movement.token_address == NATIVE_ADDRESS:
            transfer = replace(transfer, log_index=place, is_inner=False)
        yield movement, replace(transfer, bridge_id="" if event.meant_for else event.bridge_id)


def _list_received(
    mined: Mined,
    place: int,
    event: Delivery,
    events: BridgeEvents,
    evidence: TransactionEvidence,
    taken: Collection[Movement],
) -> Movement | None:
    """Return the movement that a delivery's event announces, or that it follows.

    It is of the very amount that the event tells: a relay of nothing, or of less, is not what somebody else's money
    came by. It lies between this event and the contract's next delivery, or the one before. A pool that unwraps the
    coin, or has the coin itself, tells of it even where there is no trace.
    """
    others = [at for at, other in events if isinstance(other, Delivery) and other.contract == event.contract]
    first = place if event.is_announced else max((at for at in others if at < place), default=-1)
    last = min((at for at in others if at > place), default=len(mined.receipt.logs)) if event.is_announced else place
    wrapper = find_wrapped_coin(mined.chain_id)
    is_coin = event.token_address in (NATIVE_ADDRESS, wrapper)
    fits = [
        row
        for row in evidence.movements
        if (row.recipient, row.amount) == (event.recipient, event.amount)
        and row not in taken
        and (
            (row.token_address == event.token_address != NATIVE_ADDRESS and first < row.place < last)
            or (is_coin and _is_coin_of(row, event) and first < row.place <= last)
        )
    ]
    if fits:
        return min(fits, key=lambda row: row.place) if event.is_announced else max(fits, key=lambda row: row.place)
    is_unwrapped = event.token_address == NATIVE_ADDRESS or any(
        (row.token_address, row.sender, row.recipient, row.amount) == (wrapper, event.contract, wrapper, event.amount)
        and first < row.place < last
        for row in evidence.movements
    )
    if evidence.knows_coin or not is_coin or not is_unwrapped:
        return None
    return Movement(
        token_address=NATIVE_ADDRESS, sender=event.contract, recipient=event.recipient, amount=event.amount,
        index=place, place=place,
    )  # fmt: skip


def _is_coin_of(movement: Movement, event: Delivery) -> bool:
    return (movement.token_address, movement.sender) == (NATIVE_ADDRESS, event.contract)


def _make_deposit(
    mined: Mined,
    place: int,
    event: Deposit,
    watched: Watched,
    bridges: Sequence[EventReader],
    evidence: TransactionEvidence,
) -> Iterator[Transfer]:
    log = mined.receipt.logs[place]
    (bridge,) = (each for each in bridges if _is_of(log, each))
    calldata = evidence.call_at(place, event.contract)
    whole = _ask_bridge(bridge, log, partial(bridge.complete, event, calldata))
    proof = evidence.proof_of_deposit(place, whole)
    is_own = any(each.is_own for each in proof.namings)
    if whole.recipient not in watched.recipients and (whole.recipient or not is_own):
        return
    movement = Movement(
        token_address=whole.token_address, sender="", recipient=whole.contract, amount=whole.amount,
        index=place, place=place,
    )  # fmt: skip
    transfer = _make_transfer(mined, movement, proof, TransferKind.DEPOSIT)
    yield replace(transfer, bridge_id=whole.bridge_id, fill_deadline=whole.fill_deadline, promise=whole.promise)


def _list_redirected(mined: Mined, place: int, event: Delivery) -> Transfer:
    movement = Movement(
        token_address=event.token_address, sender="", recipient=event.recipient, amount=0,
        index=place, place=place,
    )  # fmt: skip
    transfer = _make_transfer(mined, movement, PayerProof(), TransferKind.REDIRECTED)
    return replace(transfer, bridge_id=event.bridge_id)


def _ask_bridge(bridge: EventReader, log: Log, ask: Callable[[], Read]) -> Read:
    """Return what a bridge's code says of an event; it may be anybody's, and fail in any way."""
    try:
        return ask()
    except Exception as fault:  # one bridge's fault must not end the reading of a chain
        raise Unreadable(name_reader(bridge), log, fault) from fault


def _is_of(log: Log, bridge: EventReader) -> bool:
    return log.address in bridge.contracts and bool(log.topics) and log.topics[0] in bridge.topics


def _make_transfer(
    mined: Mined, movement: Movement, proof: PayerProof, kind: TransferKind = TransferKind.PAYMENT
) -> Transfer:
    return Transfer(
        kind=kind,
        chain_id=mined.chain_id,
        block=mined.block,
        tx_hash=mined.transaction.tx_hash,
        log_index=movement.index,
        token_address=movement.token_address,
        sender=proof.sender,
        recipient=movement.recipient,
        amount=movement.amount,
        others=proof.others,
        namings=proof.namings,
        is_inner=movement.index <= FIRST_INNER_TRANSFER,
    )

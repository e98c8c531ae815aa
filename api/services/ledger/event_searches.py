"""Which events are searched for on a chain: transfers of tokens to vendors and back, and what bridges say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from adapters.bridges.events import BridgeRefund, EventReader
from adapters.rpc.abi import Log
from adapters.rpc.endpoint import Question
from api.domain.watched import Move, Watched
from api.services.ledger.blooms import EventSearch, search_of
from api.services.ledger.rpc_records import FoundLog
from api.services.ledger.transfers import TRANSFER_TOPIC, make_topic
from routing_engine.model import NATIVE_ADDRESS

MOST_AT_ONCE = 500
"""Recipients, or transfers that are awaited, in one search of events."""
TOPICS_OF_TRANSFER = 3

Item = TypeVar("Item")


def plan_event_searches(first: int, last: int, watched: Watched, bridges: Sequence[EventReader]) -> list[Question]:
    """Return the questions for the events of the blocks ``first … last``.

    What is sent back is asked for by token, sender and recipient. One question has many of these, and its answer may
    hold what no single one asks for: `is_relevant` leaves that out.
    """
    span: dict[str, object] = {"fromBlock": hex(first), "toBlock": hex(last)}
    filters: list[dict[str, object]] = [
        {"topics": [TRANSFER_TOPIC, None, [make_topic(each) for each in portion]]}
        for portion in _split(sorted(watched.recipients))
    ]
    filters += [
        {
            "address": sorted({each.token_address for each in portion}),
            "topics": [
                TRANSFER_TOPIC,
                sorted({make_topic(each.sender) for each in portion}),
                sorted({make_topic(each.recipient) for each in portion}),
            ],
        }
        for portion in _split(_list_token_moves(watched))
    ]
    filters += [{"address": contracts, "topics": [topics]} for contracts, topics in _plan_bridge_searches(bridges)]
    return [("eth_getLogs", [span | each]) for each in filters]


def plan_bloom_searches(watched: Watched, bridges: Sequence[EventReader]) -> list[EventSearch]:
    """Return the same searches for the bloom of a block, one for each thing that is sent back."""
    recipients = [make_topic(each) for each in watched.recipients]
    return [
        *([search_of([TRANSFER_TOPIC], recipients)] if recipients else []),
        *(
            search_of([make_topic(each.sender)], [make_topic(each.recipient)], [each.token_address], [TRANSFER_TOPIC])
            for each in _list_token_moves(watched)
        ),
        *(search_of(contracts, topics) for contracts, topics in _plan_bridge_searches(bridges)),
    ]


def is_transfer(found: FoundLog) -> bool:
    """Whether an event that was found tells of a token that moved, and not of what a bridge did."""
    return found.log.topics[:1] == (TRANSFER_TOPIC,)


def is_wanted(found: FoundLog, watched: Watched, bridges: Sequence[EventReader]) -> bool:
    """Whether one of the searches would have found an event."""
    log = found.log
    if is_transfer(found):
        return _is_watched_transfer(log, watched)
    return any(log.address in bridge.contracts and bridge.topics.issuperset(log.topics[:1]) for bridge in bridges)


def is_relevant(found: FoundLog, watched: Watched, bridges: Sequence[EventReader]) -> bool:
    """Whether an event that was found says by itself that its transaction is to be read."""
    if is_transfer(found):
        return _is_watched_transfer(found.log, watched)
    return found.names(watched.recipients) or _is_giving_back(found, watched, bridges)


def _is_watched_transfer(log: Log, watched: Watched) -> bool:
    """Whether a token reaches a vendor, or goes back as it is to; anybody may move nothing in a merchant's name."""
    if len(log.topics) < TOPICS_OF_TRANSFER:
        return False
    sender, recipient = ("0x" + topic[-40:] for topic in log.topics[1:TOPICS_OF_TRANSFER])
    if recipient in watched.recipients:
        return True
    return any(log.data) and Move(token_address=log.address, sender=sender, recipient=recipient) in watched.moves


def _is_giving_back(found: FoundLog, watched: Watched, bridges: Sequence[EventReader]) -> bool:
    """Whether a bridge's event gives deposits back, and names whose deposit it took in and is to give back."""
    log = found.log
    owners = {each.recipient for each in watched.returns if each.sender == log.address}
    if not owners or not found.names(owners):
        return False
    return any(log.address in each.contracts and _is_refund(each, log) for each in bridges)


def _is_refund(bridge: EventReader, log: Log) -> bool:
    try:
        return isinstance(bridge.read(log), BridgeRefund)
    except Exception:  # whoever reads the transaction says whose code fails at it
        return True


def _list_token_moves(watched: Watched) -> list[Move]:
    moves = (each for each in watched.moves if each.token_address != NATIVE_ADDRESS)
    return sorted(moves, key=lambda each: (each.token_address, each.sender, each.recipient))


def _split(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), MOST_AT_ONCE):
        yield items[start : start + MOST_AT_ONCE]


def _plan_bridge_searches(bridges: Sequence[EventReader]) -> Iterator[tuple[list[str], list[str]]]:
    contracts = sorted({address for bridge in bridges for address in bridge.contracts})
    if contracts:
        yield contracts, sorted({topic for bridge in bridges for topic in bridge.topics})

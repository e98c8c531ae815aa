"""Which events are searched for on a chain: transfers of tokens to certain addresses, and what bridges say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.bridges.events import EventReader
from adapters.rpc.endpoint import Question
from api.services.ledger.blooms import EventSearch, search_of
from api.services.ledger.rpc_records import FoundLog
from api.services.ledger.transfers import TRANSFER_TOPIC, make_topic

MOST_RECIPIENTS = 500
"""Addresses in one search of events."""


def plan_event_searches(
    first: int, last: int, wanted: frozenset[str], bridges: Sequence[EventReader]
) -> list[Question]:
    """Return the questions for the events of the blocks ``first … last``."""
    span: dict[str, object] = {"fromBlock": hex(first), "toBlock": hex(last)}
    recipients = sorted(wanted)
    filters: list[dict[str, object]] = [
        {"topics": [TRANSFER_TOPIC, None, [make_topic(each) for each in recipients[start : start + MOST_RECIPIENTS]]]}
        for start in range(0, len(recipients), MOST_RECIPIENTS)
    ]
    filters += [{"address": contracts, "topics": [topics]} for contracts, topics in _plan_bridge_searches(bridges)]
    return [("eth_getLogs", [span | each]) for each in filters]


def plan_bloom_searches(wanted: frozenset[str], bridges: Sequence[EventReader]) -> list[EventSearch]:
    """Return the same searches for the bloom of a block."""
    transfers = [search_of([TRANSFER_TOPIC], [make_topic(each) for each in wanted])] if wanted else []
    return [*transfers, *(search_of(contracts, topics) for contracts, topics in _plan_bridge_searches(bridges))]


def is_transfer(found: FoundLog) -> bool:
    """Whether an event that was found tells of a token that moved, and not of what a bridge did."""
    return found.log.topics[:1] == (TRANSFER_TOPIC,)


def is_wanted(found: FoundLog, wanted: frozenset[str], bridges: Sequence[EventReader]) -> bool:
    """Whether one of the searches would have found an event."""
    log = found.log
    if is_transfer(found):
        return any("0x" + topic[-40:] in wanted for topic in log.topics[2:3])
    return any(log.address in bridge.contracts and bridge.topics.issuperset(log.topics[:1]) for bridge in bridges)


def _plan_bridge_searches(bridges: Sequence[EventReader]) -> Iterator[tuple[list[str], list[str]]]:
    contracts = sorted({address for bridge in bridges for address in bridge.contracts})
    if contracts:
        yield contracts, sorted({topic for bridge in bridges for topic in bridge.topics})

"""Events of a range of blocks, in portions that adapt to what endpoints bear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from adapters.base import AdapterError, BadPayload, VenueUnavailable
from adapters.rpc.abi import Log, LogFilter, read_hex, read_quantity
from adapters.rpc.adaptive_batch import Portion
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Answer, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool

MOST_ADDRESSES = 1000
MOST_TOPICS = 4
PATIENCE = 2
MOST_REQUESTS = 400
WIDEST = 2**40
"""More blocks than any chain has: whether a range is too wide shows when it is asked for."""


class TooLong(AdapterError):
    """Reading a range would take more requests than anybody waits for: the endpoint allows narrow ranges only."""

    code = "too_long"


class LogReader:
    """Reads logs of one chain.

    Parameters
    ----------
    rpc : RpcPool
        Of the chain.
    """

    def __init__(self, rpc: RpcPool) -> None:
        self._rpc = rpc
        self._width = Portion(WIDEST, WIDEST)

    def read(self, wanted: LogFilter, at: Block) -> tuple[Log, ...]:
        """Return what matches, in the order of the chain.

        Parameters
        ----------
        wanted : LogFilter
            What lies behind `at` is left out.
        at : Block
            Whose fork the logs must be of.

        Raises
        ------
        VenueUnavailable
            If no endpoint answers properly for even a single block.
        BadPayload
            If a log comes twice.
        TooLong
            If it would take more than `MOST_REQUESTS`.
        """
        found = self._read_range(replace(wanted, last_block=min(wanted.last_block, at.number)), at)
        logs = tuple(sorted(found, key=_get_place))
        if any(_get_place(first) == _get_place(second) for first, second in pairwise(logs)):
            raise BadPayload(f"chain {self._rpc.chain_id}: a log came twice")
        hashes = {at.number: at.hash}
        if any(hashes.setdefault(log.block_number, log.block_hash) != log.block_hash for log in logs):
            raise VenueUnavailable(f"chain {self._rpc.chain_id}: logs are of another fork than block {at.number}")
        return logs

    def _read_range(self, wanted: LogFilter, at: Block) -> list[Log]:
        found: list[Log] = []
        first, patience = wanted.first_block, PATIENCE
        while first <= wanted.last_block:
            last = min(wanted.last_block, first + self._width.size - 1)
            try:
                found += self._ask(replace(wanted, first_block=first, last_block=last), at)
            except (RpcRefused, VenueUnavailable) as fault:
                patience -= isinstance(fault, VenueUnavailable)
                if first == last or patience < 0:
                    raise VenueUnavailable(f"logs of block {first}: {fault}") from fault
                self._width.shrink(last - first + 1)
                self._check_length(wanted.last_block - first + 1)
                continue
            patience = PATIENCE
            self._width.grow(last - first + 1)
            first = last + 1
        return found

    def _check_length(self, blocks: int) -> None:
        if blocks > MOST_REQUESTS * self._width.size:
            ranges = f"logs of {blocks} blocks in ranges of {self._width.size}"
            raise TooLong(f"chain {self._rpc.chain_id}: {ranges} take too long; use an endpoint that allows wider ones")

    def _ask(self, wanted: LogFilter, at: Block) -> list[Log]:
        parts = tuple(_split_by_addresses(wanted))

        def parse(answers: list[Answer]) -> list[Log]:
            for answer in answers:
                if isinstance(answer, RpcRefused):
                    raise answer
            return [log for part, answer in zip(parts, answers, strict=True) for log in _parse(answer, part)]

        return self._rpc.ask([("eth_getLogs", [_make_parameters(part)]) for part in parts], parse, at)


def _split_by_addresses(wanted: LogFilter) -> Iterator[LogFilter]:
    for start in range(0, len(wanted.addresses), MOST_ADDRESSES):
        yield replace(wanted, addresses=wanted.addresses[start : start + MOST_ADDRESSES])


def _make_parameters(wanted: LogFilter) -> dict[str, Any]:
    return {
        "fromBlock": hex(wanted.first_block),
        "toBlock": hex(wanted.last_block),
        "address": list(wanted.addresses),
        "topics": [list(allowed) or None for allowed in wanted.topics],
    }


def _parse(answer: object, wanted: LogFilter) -> list[Log]:
    if not isinstance(answer, list):
        raise BadPayload(f"eth_getLogs must give a list, not {type(answer).__name__}")
    addresses = frozenset(wanted.addresses)
    logs = [parse_log(record) for record in answer]
    for log in logs:
        if log.address not in addresses or not wanted.allows(log):
            raise BadPayload(f"{log.address}: a log of block {log.block_number} that was not asked for")
    return logs


def parse_log(record: object) -> Log:
    """Read one log.

    Raises
    ------
    BadPayload
        If a field is missing or malformed, or the log was taken back.
    """
    if not isinstance(record, dict):
        raise BadPayload(f"a log must be an object, not {str(record)[:80]!r}")
    topics = record.get("topics")
    if not isinstance(topics, list) or len(topics) > MOST_TOPICS:
        raise BadPayload(f"a log's topics must be a list of at most {MOST_TOPICS}")
    if record.get("removed"):
        raise BadPayload("a log was taken back while it was read")
    return Log(
        address="0x" + read_hex(record.get("address"), "address", 20).hex(),
        topics=tuple("0x" + read_hex(topic, "topic", 32).hex() for topic in topics),
        data=read_hex(record.get("data"), "data"),
        block_number=read_quantity(record, "blockNumber"),
        block_hash="0x" + read_hex(record.get("blockHash"), "blockHash", 32).hex(),
        index=read_quantity(record, "logIndex"),
    )


def _get_place(log: Log) -> tuple[int, int]:
    return log.block_number, log.index

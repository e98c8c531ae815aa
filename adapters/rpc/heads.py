"""The newest block of a chain: one endpoint is asked, and compared with the others now and then."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

from adapters.base import AdapterError, BadPayload, VenueUnavailable
from adapters.rpc.abi import read_hex, read_quantity
from adapters.rpc.endpoint import Answer, Endpoint, Question, RpcRefused

MAX_LAG_BLOCKS = 16
"""How far an endpoint's head may be from the median of all before it is left out, behind or ahead."""
MAX_HEAD_AGE_S = 900
MAX_AHEAD_S = 60
PATIENCE_S = 1.0
"""For endpoints that are compared, once one of them has answered."""
HEDGE_S = 1.0
"""How long the endpoint in use may take before the others are asked too."""
COMPARE_S = 30.0
"""How often all endpoints are compared while the one in use answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of one chain; `timestamp` in seconds since 1970, `parent` the hash of the block before.

    `final` is the number of the block that was final when this one was the newest, where it was asked for and known;
    `beside` the block of another number that was asked for in the same request, where the chain has it.
    """

    number: int
    hash: str
    timestamp: int
    parent: str = ""
    final: int | None = None
    beside: Block | None = None


class Heads:
    """Asks endpoints of one chain for its newest block.

    All are asked now and then, and at once when the one in use fails, takes long, or tells of an older block than
    before. The first that keeps step with the others is then the one in use: `used`.

    Parameters
    ----------
    chain_id : int
        For messages.
    endpoints : sequence of Endpoint
        The preferred first.
    asks_final : bool
        Whether the final block is asked for too, in the same request.
    max_head_age_s : int
        See `adapters.rpc.endpoint_pool.RpcPool`.
    clock, stopwatch : callable
        Seconds since 1970, and monotonic seconds.
    """

    def __init__(
        self,
        chain_id: int,
        endpoints: Sequence[Endpoint],
        *,
        asks_final: bool,
        max_head_age_s: int,
        clock: Callable[[], float],
        stopwatch: Callable[[], float],
    ) -> None:
        self._chain_id, self._endpoints = chain_id, tuple(endpoints)
        tags = ("latest", "finalized") if asks_final else ("latest",)
        self._questions: list[Question] = [("eth_getBlockByNumber", [tag, False]) for tag in tags]
        self._max_head_age_s = max_head_age_s
        self._clock, self._stopwatch = clock, stopwatch
        self._threads = ThreadPoolExecutor(len(self._endpoints), thread_name_prefix=f"heads-{chain_id}")
        self._pending: dict[Endpoint, Future[Block | VenueUnavailable]] = {}
        self._compared_at = 0.0
        self.used: Endpoint | None = None

    def find_newest(self, beside: int | None) -> tuple[Block, Endpoint]:
        """Return the newest block, with the one of number `beside`, and who told it.

        Raises
        ------
        VenueUnavailable
            If none answers with a recent block.
        """
        questions = list(self._questions)
        if beside is not None:
            questions.append(("eth_getBlockByNumber", [hex(beside), False]))
        if self.used is not None and self._stopwatch() - self._compared_at < COMPARE_S:
            head = self._ask_used(self.used, questions)
            if head is not None:
                return head, self.used
        return self._compare(questions)

    def close(self) -> None:
        """Ask no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask_used(self, used: Endpoint, questions: Sequence[Question]) -> Block | None:
        """Ask the endpoint in use alone; None if the others must be asked too."""
        last = used.head
        if used in self._pending:
            return None
        told = self._ask_all([used], questions, HEDGE_S).get(used)
        if not isinstance(told, Block) or (last is not None and told.number < last):
            return None
        return told

    def _compare(self, questions: Sequence[Question]) -> tuple[Block, Endpoint]:
        """Ask all endpoints, and choose the one to use."""
        self._compared_at = self._stopwatch()
        told = self._ask_all(self._endpoints, questions)
        heads = {endpoint: head for endpoint, head in told.items() if isinstance(head, Block)}
        if not heads:
            self.used = None
            faults = "; ".join(str(fault) for fault in told.values()) or "no endpoint answers in time"
            raise VenueUnavailable(f"chain {self._chain_id}: {faults}")
        median = statistics.median_high(head.number for head in heads.values())
        for endpoint, head in heads.items():
            endpoint.in_step = abs(head.number - median) <= MAX_LAG_BLOCKS
        first = self.used = next(endpoint for endpoint in self._endpoints if endpoint in heads and endpoint.in_step)
        return heads[first], first

    def _ask_all(
        self, endpoints: Sequence[Endpoint], questions: Sequence[Question], first_s: float | None = None
    ) -> dict[Endpoint, Block | VenueUnavailable]:
        """Ask endpoints at once; one that hangs holds the others up for a moment only."""
        asked = {}
        for endpoint in endpoints:
            pending = self._pending.get(endpoint)  # once: another thread may ask too
            if pending is None or pending.done():  # what came too late is old by now
                pending = self._pending[endpoint] = self._threads.submit(self._ask_head, endpoint, questions)
            asked[endpoint] = pending
        wait(asked.values(), timeout=first_s, return_when=FIRST_COMPLETED)
        wait(asked.values(), timeout=0 if first_s else PATIENCE_S)
        done = {endpoint: future for endpoint, future in asked.items() if future.done()}
        for endpoint in done:
            self._pending.pop(endpoint, None)
        return {endpoint: future.result() for endpoint, future in done.items()}

    def _ask_head(self, endpoint: Endpoint, questions: Sequence[Question]) -> Block | VenueUnavailable:
        try:
            head = endpoint.ask(questions, partial(_parse_head, len(self._questions)))
        except VenueUnavailable as fault:
            return fault
        except AdapterError as fault:
            return VenueUnavailable(str(fault))
        endpoint.head = head.number
        age_s = int(self._clock()) - head.timestamp
        if -MAX_AHEAD_S <= age_s <= self._max_head_age_s:
            return head
        endpoint.in_step = False
        when = f"{age_s} s old" if age_s > 0 else f"{-age_s} s in the future"
        return VenueUnavailable(f"{endpoint.host}: its newest block {head.number} is {when}")


def _parse_head(asked: int, answers: list[Answer]) -> Block:
    """Read the newest block, the block beside it, and the final number if the node knows such a thing."""
    newest, *final = answers[:asked]
    known = [answer for answer in final if answer is not None and not isinstance(answer, RpcRefused)]
    others = [parse_block(answer) for answer in answers[asked:] if isinstance(answer, dict)]
    number = parse_block(known[0]).number if known else None
    return replace(parse_block(newest), final=number, beside=others[0] if others else None)


def parse_block(record: object) -> Block:
    """Read a block's header.

    Raises
    ------
    BadPayload
        Naming the field that is missing or malformed.
    """
    if not isinstance(record, dict):
        raise BadPayload(f"a block must be an object, not {str(record)[:80]!r}")
    return Block(
        number=read_quantity(record, "number"),
        hash="0x" + read_hex(record.get("hash"), "hash", 32).hex(),
        timestamp=read_quantity(record, "timestamp"),
        parent="0x" + read_hex(record.get("parentHash"), "parentHash", 32).hex(),
    )

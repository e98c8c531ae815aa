"""A chain behind several JSON-RPC endpoints: fail-over, health, and answers that belong to one block."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from adapters.base import AdapterError, BadPayload, Client, VenueUnavailable
from adapters.chain.abi import hex_data, quantity
from adapters.endpoint import Answer, Endpoint, EndpointHealth, LacksBlock, Parsed, Question, RpcRefused
from adapters.http import HttpLimits, JsonClient
from adapters.single_endpoint import SingleEndpoint

RPC_LIMITS = HttpLimits(connect_s=3.0, read_s=20.0, total_s=30.0, max_bytes=32 * 2**20, tries=1)
ROUNDS = 3
FIRST_PAUSE_S = 0.25
MAX_LAG_BLOCKS = 16
MAX_HEAD_AGE_S = 900
MAX_AHEAD_S = 60
PATIENCE_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of one chain; `timestamp` in seconds since 1970, `parent` the hash of the block before.

    `final` is the number of the block that was final when this one was the newest, where it was asked for and known.
    """

    number: int
    hash: str
    timestamp: int
    parent: str = ""
    final: int | None = None


class RpcPool:
    """Asks a chain through whichever endpoint answers.

    Parameters
    ----------
    chain_id : int
        What every endpoint must answer.
    urls : sequence of str
        The first that is in order is asked; the others stand in for it.
    client : Client
        Bounded in time and size, with a single try.
    asks_final : bool
        Whether `head` asks for the final block too, in the same request.
    max_lag_blocks : int
        How far an endpoint's head may be from the median of all before it is left out, behind or ahead.
    max_head_age_s : int
        How old a head may be: a node that stopped following its chain answers happily.
    clock : callable
        Seconds since 1970.
    sleep : callable
        Waits for so many seconds.
    rng : random.Random
        Spreads the pauses between rounds.

    Attributes
    ----------
    answered_by : str
        Host of the endpoint whose answers were taken last.
    """

    def __init__(
        self,
        chain_id: int,
        urls: Sequence[str],
        *,
        client: Client | None = None,
        asks_final: bool = False,
        max_lag_blocks: int = MAX_LAG_BLOCKS,
        max_head_age_s: int = MAX_HEAD_AGE_S,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        if not urls:
            raise ValueError(f"chain {chain_id}: give at least one endpoint")
        self.chain_id = chain_id
        asked = client or JsonClient(limits=RPC_LIMITS)
        tags = ("latest", "finalized") if asks_final else ("latest",)
        self._head_questions: list[Question] = [("eth_getBlockByNumber", [tag, False]) for tag in tags]
        self._endpoints = tuple(Endpoint(chain_id, url, asked) for url in urls)
        self._max_lag_blocks, self._max_head_age_s = max_lag_blocks, max_head_age_s
        self._clock, self._sleep = clock, sleep
        self._rng = rng or random.Random()
        self._confirmed: tuple[str, set[Endpoint]] = ("", set())
        self.answered_by = ""
        self._singles = tuple(SingleEndpoint(chain_id, endpoint) for endpoint in self._endpoints)
        self._threads = ThreadPoolExecutor(len(urls), thread_name_prefix=f"heads-{chain_id}")
        self._pending: dict[Endpoint, Future[Block | VenueUnavailable]] = {}

    def health(self) -> tuple[EndpointHealth, ...]:
        """Return the state of each endpoint, in the order given."""
        return tuple(endpoint.health for endpoint in self._endpoints)

    def singles(self) -> tuple[SingleEndpoint, ...]:
        """Return each endpoint by itself, in the order given, so that what they say can be compared."""
        return self._singles

    def head(self) -> Block:
        """Return the newest block of the first endpoint that keeps step with the others.

        Raises
        ------
        VenueUnavailable
            If none answers with a recent block.
        """
        told = self._heads()
        heads = {endpoint: head for endpoint, head in told.items() if isinstance(head, Block)}
        if not heads:
            raise VenueUnavailable(f"chain {self.chain_id}: " + "; ".join(str(fault) for fault in told.values()))
        median = statistics.median_high(head.number for head in heads.values())
        for endpoint, head in heads.items():
            endpoint.in_step = abs(head.number - median) <= self._max_lag_blocks
        first = next(endpoint for endpoint in heads if endpoint.in_step)
        self._confirmed = (heads[first].hash, {first})
        return heads[first]

    def block(self, number: int) -> Block | None:
        """Return a block by its number, or None where the chain is not that long."""

        def parse(answers: list[Answer]) -> Block | None:
            return None if answers[0] is None else parse_block(answers[0])

        return self.ask([("eth_getBlockByNumber", [hex(number), False])], parse)

    def ask(
        self, questions: Sequence[Question], parse: Callable[[list[Answer]], Parsed], at: Block | None = None
    ) -> Parsed:
        """Put questions to one endpoint; where its answers cannot be parsed, to the next.

        Parameters
        ----------
        questions : sequence of (method, parameters)
            May be put more than once.
        parse : callable
            Takes the answers, each what a JSON parser gives or `RpcRefused`; raises `BadPayload` for garbage.
        at : Block, optional
            Only endpoints that have this very block are asked.

        Raises
        ------
        VenueUnavailable
            If no endpoint answers all of them.
        LacksBlock
            If none has the state that is asked for.
        """
        faults: dict[str, AdapterError] = {}
        for round_number in range(ROUNDS):
            if round_number:
                self._sleep(self._rng.uniform(0.5, 1.0) * FIRST_PAUSE_S * 2.0**round_number)
            for endpoint in self._endpoints:
                if not endpoint.in_step:
                    continue
                try:
                    self._confirm(endpoint, at)
                    parsed = endpoint.ask(questions, parse)
                    self.answered_by = endpoint.host
                    return parsed
                except (VenueUnavailable, LacksBlock) as fault:
                    faults[endpoint.host] = fault
        told = "; ".join(map(str, faults.values())) or "no endpoint keeps step"
        is_block = faults and all(isinstance(fault, LacksBlock) for fault in faults.values())
        raise (LacksBlock if is_block else VenueUnavailable)(f"chain {self.chain_id}: {told}")

    def close(self) -> None:
        """Ask no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for single in self._singles:
            single.close()

    def _confirm(self, endpoint: Endpoint, at: Block | None) -> None:
        """Make sure that an endpoint is on the same fork as whoever told of `at`."""
        if at is None:
            return
        if self._confirmed[0] != at.hash:
            self._confirmed = (at.hash, set())
        if endpoint in self._confirmed[1]:
            return
        (answer,) = endpoint.ask([("eth_getBlockByNumber", [hex(at.number), False])], list)
        if not isinstance(answer, dict) or answer.get("hash") != at.hash:
            raise LacksBlock(f"{endpoint.host}: does not have block {at.number} with hash {at.hash}")
        self._confirmed[1].add(endpoint)

    def _heads(self) -> dict[Endpoint, Block | VenueUnavailable]:
        """Ask all endpoints at once; one that hangs holds the others up for a moment only."""
        for endpoint in self._endpoints:
            if endpoint not in self._pending:
                self._pending[endpoint] = self._threads.submit(self._head_of, endpoint)
        wait(self._pending.values(), return_when=FIRST_COMPLETED)
        wait(self._pending.values(), timeout=PATIENCE_S)
        done = {endpoint: future for endpoint, future in self._pending.items() if future.done()}
        for endpoint in done:
            del self._pending[endpoint]
        return {endpoint: future.result() for endpoint, future in done.items()}

    def _head_of(self, endpoint: Endpoint) -> Block | VenueUnavailable:
        try:
            head = endpoint.ask(self._head_questions, _parse_head)
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


def _parse_head(answers: list[Answer]) -> Block:
    """Read the newest block, and the number of the final one if it was asked for and the node knows such a thing."""
    newest, *final = answers
    known = [answer for answer in final if answer is not None and not isinstance(answer, RpcRefused)]
    return replace(parse_block(newest), final=parse_block(known[0]).number if known else None)


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
        number=quantity(record, "number"),
        hash="0x" + hex_data(record.get("hash"), "hash", 32).hex(),
        timestamp=quantity(record, "timestamp"),
        parent="0x" + hex_data(record.get("parentHash"), "parentHash", 32).hex(),
    )

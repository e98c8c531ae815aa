"""A chain behind several JSON-RPC endpoints: fail-over, health, and answers that belong to one block."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from adapters.base import AdapterError, Client, VenueUnavailable
from adapters.http.circuit_breaker import Breakers
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.block import Block, parse_block
from adapters.rpc.endpoint import Answer, Endpoint, LacksBlock, Parsed, Question, make_breaker
from adapters.rpc.endpoint_health import EndpointHealth
from adapters.rpc.heads import MAX_HEAD_AGE_S, Heads
from adapters.rpc.majority import Majority
from adapters.rpc.single_endpoint import SingleEndpoint
from adapters.rpc.urls import is_socket

RPC_LIMITS = HttpLimits(connect_s=3.0, read_s=20.0, total_s=30.0, max_bytes=32 * 2**20, tries=1)
ROUNDS = 3
FIRST_PAUSE_S = 0.25


def make_rpc_client(limits: HttpLimits = RPC_LIMITS) -> JsonClient:
    """Return a client for endpoints of chains: whoever was away is asked again soon."""
    return JsonClient(limits=limits, breakers=Breakers(make_breaker))


class RpcPool:
    """Asks a chain through whichever endpoint answers.

    Parameters
    ----------
    chain_id : int
        What every endpoint must answer.
    urls : sequence of str
        The first that is in order is asked; the others stand in for it. ``ipc:///var/run/geth.ipc`` is the socket of a
        node on this machine.
    client : Client
        Bounded in time and size, with a single try; not asked for sockets.
    finality_blocks : int, optional
        How deep a block lies that nothing changes any more, where nodes do not say; heads tell of the final block too.
    max_head_age_s : int
        How old a head may be: a node that stopped following its chain answers happily.
    clock : callable
        Seconds since 1970.
    stopwatch : callable
        Monotonic seconds.
    sleep : callable
        Waits for so many seconds.

    Attributes
    ----------
    answered_by : str
        Host of the endpoint whose answers were taken last.
    majority : Majority
        Asks each endpoint by itself, for what one of them must not decide alone.
    """

    def __init__(
        self,
        chain_id: int,
        urls: Sequence[str],
        *,
        client: Client | None = None,
        finality_blocks: int | None = None,
        max_head_age_s: int = MAX_HEAD_AGE_S,
        clock: Callable[[], float] = time.time,
        stopwatch: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not urls:
            raise ValueError(f"chain {chain_id}: give at least one endpoint")
        self.chain_id = chain_id
        asked = client or make_rpc_client()
        self._endpoints = tuple(
            Endpoint(chain_id, url, _choose_client(url, asked), stopwatch=stopwatch) for url in urls
        )
        self._sleep = sleep
        self._rng = random.Random()
        self._confirmed: tuple[str, set[Endpoint]] = ("", set())
        self.answered_by = ""
        self._singles = tuple(SingleEndpoint(chain_id, endpoint) for endpoint in self._endpoints)
        self.majority = Majority(self._singles)
        self._heads = Heads(
            chain_id,
            self._endpoints,
            finality_blocks=finality_blocks,
            max_head_age_s=max_head_age_s,
            clock=clock,
            stopwatch=stopwatch,
        )

    @property
    def requests(self) -> int:
        """How many HTTP requests were sent to the endpoints; a batch is one."""
        return sum(endpoint.requests for endpoint in self._endpoints)

    def list_health(self) -> tuple[EndpointHealth, ...]:
        """Return the state of each endpoint, in the order given."""
        return tuple(endpoint.health for endpoint in self._endpoints)

    def list_singles(self) -> tuple[SingleEndpoint, ...]:
        """Return each endpoint by itself, in the order given, so that what they say can be compared."""
        return self._singles

    def read_head(self, beside: int | None = None) -> Block:
        """Return the newest block that the endpoint in use tells; see `adapters.rpc.heads.Heads`.

        Parameters
        ----------
        beside : int, optional
            Number of a block to ask for in the same request.

        Raises
        ------
        VenueUnavailable
            If none answers with a recent block.
        """
        head, used = self._heads.find_newest(beside)
        self._confirmed = (head.hash, {used})
        return head

    def read_block(self, number: int) -> Block | None:
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
            for endpoint in sorted(self._endpoints, key=lambda each: each is not self._heads.used):
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
        self._heads.close()
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


def _choose_client(url: str, client: Client) -> Client:
    if not is_socket(url):
        return client
    from adapters.rpc.web3_client import SocketClient  # web3 takes a second to load, and most nodes have no socket

    return SocketClient(url)

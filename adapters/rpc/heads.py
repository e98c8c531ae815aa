"""The newest block of a chain: one endpoint is asked, and compared with the others now and then."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

from adapters.base import AdapterError, VenueUnavailable
from adapters.rpc.block import Block, parse_block
from adapters.rpc.endpoint import Answer, Endpoint, Question, RpcRefused
from adapters.rpc.finality import FinalBlock, FinalityVote

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
AGREE_S = 10.0
"""How often all are compared if the one in use says that more is final than they have agreed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What an endpoint answered: its newest block, and which block it has where all have agreed on one."""

    head: Block
    agreed: Block | None


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
    finality_blocks : int or None
        Blocks after which one is final where nodes do not say; None if it is not asked for.
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
        finality_blocks: int | None,
        max_head_age_s: int,
        clock: Callable[[], float],
        stopwatch: Callable[[], float],
    ) -> None:
        self._chain_id, self._endpoints = chain_id, tuple(endpoints)
        self._max_head_age_s = max_head_age_s
        self._clock, self._stopwatch = clock, stopwatch
        self._threads = ThreadPoolExecutor(len(self._endpoints), thread_name_prefix=f"heads-{chain_id}")
        self._pending: dict[Endpoint, Future[_Told | VenueUnavailable]] = {}
        self._compared_at = 0.0
        self._finality: FinalityVote | None = None
        if finality_blocks is not None:
            self._finality = FinalityVote(chain_id, len(self._endpoints), finality_blocks, self._ask_block)
        self._agreed: FinalBlock | None = None
        self.used: Endpoint | None = None

    def find_newest(self, beside: int | None) -> tuple[Block, Endpoint]:
        """Return the newest block, with the one of number `beside`, and who told it.

        Raises
        ------
        VenueUnavailable
            If none answers with a recent block.
        """
        since_s = self._stopwatch() - self._compared_at
        if self.used is not None and since_s < COMPARE_S:
            head = self._ask_used(self.used, beside, may_agree=since_s >= AGREE_S)
            if head is not None:
                return head, self.used
        return self._compare(beside)

    def close(self) -> None:
        """Ask no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask_used(self, used: Endpoint, beside: int | None, *, may_agree: bool) -> Block | None:
        """Ask the endpoint in use alone; None if the others must be asked too."""
        last, agreed = used.head, self._agreed
        if used in self._pending:
            return None
        told = self._ask_all([used], beside, HEDGE_S).get(used)
        if not isinstance(told, _Told) or (last is not None and told.head.number < last):
            return None
        if self._finality is None:
            return told.head
        if agreed is None:
            return None if may_agree else replace(told.head, final=None)
        own = self._finality.find_own(told.head)
        if len(self._endpoints) == 1:
            return replace(told.head, final=own)
        if agreed.hash and (told.agreed is None or told.agreed.hash != agreed.hash):
            return None
        return None if own > agreed.number and may_agree else replace(told.head, final=agreed.number)

    def _compare(self, beside: int | None) -> tuple[Block, Endpoint]:
        """Ask all endpoints, and choose the one to use."""
        self._compared_at, self.used = self._stopwatch(), None
        told = self._ask_all(self._endpoints, beside)
        for endpoint in self._endpoints:
            endpoint.answers = isinstance(told.get(endpoint), _Told)
        heads = {endpoint: each.head for endpoint, each in told.items() if isinstance(each, _Told)}
        if not heads:
            faults = "; ".join(str(each) for each in told.values()) or "no endpoint answers in time"
            raise VenueUnavailable(f"chain {self._chain_id}: {faults}")
        median = statistics.median_high(head.number for head in heads.values())
        for endpoint, head in heads.items():
            endpoint.in_step = abs(head.number - median) <= MAX_LAG_BLOCKS
        self._agreed = None if self._finality is None else self._finality.find_agreed(heads, self._agreed)
        first = self.used = next(endpoint for endpoint in self._endpoints if endpoint in heads and endpoint.in_step)
        return replace(heads[first], final=None if self._agreed is None else self._agreed.number), first

    def _ask_all(
        self, endpoints: Sequence[Endpoint], beside: int | None, first_s: float | None = None
    ) -> dict[Endpoint, _Told | VenueUnavailable]:
        """Ask endpoints at once; one that hangs holds the others up for a moment only."""
        asked = {}
        for endpoint in endpoints:
            pending = self._pending.get(endpoint)  # once: another thread may ask too
            if pending is None or pending.done():  # what came too late is old by now
                pending = self._pending[endpoint] = self._threads.submit(self._ask_head, endpoint, beside)
            asked[endpoint] = pending
        wait(asked.values(), timeout=first_s, return_when=FIRST_COMPLETED)
        wait(asked.values(), timeout=0 if first_s else PATIENCE_S)
        done = {endpoint: future for endpoint, future in asked.items() if future.done()}
        for endpoint in done:
            self._pending.pop(endpoint, None)
        return {endpoint: future.result() for endpoint, future in done.items()}

    def _ask_head(self, endpoint: Endpoint, beside: int | None) -> _Told | VenueUnavailable:
        agreed = self._agreed.number if self._agreed is not None and self._agreed.hash else None
        asked = ["latest", "finalized" if self._finality else None, *(map(_write_number, (beside, agreed)))]
        questions = [_ask_for_block(each) for each in asked if each is not None]
        try:
            told = endpoint.ask(questions, partial(_parse_blocks, asked))
        except VenueUnavailable as fault:
            return fault
        except AdapterError as fault:
            return VenueUnavailable(str(fault))
        endpoint.head = told.head.number
        age_s = int(self._clock()) - told.head.timestamp
        if -MAX_AHEAD_S <= age_s <= self._max_head_age_s:
            return told
        endpoint.in_step = False
        when = f"{age_s} s old" if age_s > 0 else f"{-age_s} s in the future"
        return VenueUnavailable(f"{endpoint.host}: its newest block {told.head.number} is {when}")

    def _ask_block(self, endpoints: Sequence[Endpoint], number: int) -> dict[Endpoint, Block]:
        """Ask endpoints at once which block of theirs has this number."""
        asked = {each: self._threads.submit(_read_block, each, number) for each in endpoints}
        wait(asked.values(), timeout=HEDGE_S + PATIENCE_S)
        found = {endpoint: future.result() for endpoint, future in asked.items() if future.done()}
        return {endpoint: block for endpoint, block in found.items() if block is not None}


def _write_number(number: int | None) -> str | None:
    return None if number is None else hex(number)


def _ask_for_block(name: str) -> Question:
    return "eth_getBlockByNumber", [name, False]


def _read_block(endpoint: Endpoint, number: int) -> Block | None:
    """Return a block by its number; None where there is none, or no answer."""
    try:
        return endpoint.ask([_ask_for_block(hex(number))], lambda answers: _parse_known(answers[0]))
    except AdapterError:
        return None


def _parse_blocks(asked: Sequence[str | None], answers: list[Answer]) -> _Told:
    """Read the blocks that were asked for: the newest, the final one, the one beside it, and the agreed one."""
    given = iter(answers)
    newest, final, beside, agreed = (next(given) if each is not None else None for each in asked)
    known = _parse_known(final)
    head = replace(parse_block(newest), final=known.number if known else None, beside=_parse_known(beside))
    return _Told(head=head, agreed=_parse_known(agreed))


def _parse_known(answer: Answer) -> Block | None:
    """Read a block, unless the node does not know such a thing."""
    return None if answer is None or isinstance(answer, RpcRefused) else parse_block(answer)

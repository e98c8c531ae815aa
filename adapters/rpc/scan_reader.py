"""Scans over an endpoint, in portions that adapt to what it bears, or call by call where it runs no programs."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.base import BadPayload
from adapters.rpc.abi import Call, Function, Outcome, read_hex
from adapters.rpc.adaptive_batch import Portion
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Answer, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.multicall import Multicall
from adapters.rpc.scan_program import Scan, build_program, split_result
from routing_engine.model import ZERO_ADDRESS

FIRST_PORTION = 4_096
LARGEST_PORTION = 16_384
"""Steps, of about 3,000 gas each: nodes allow 50 million for a call."""

MOST_SCANS = 150
"""Records that fit into the longest code a contract may be made with."""

TRIAL = (Scan(Call(ZERO_ADDRESS, b"", Function("f()")), 0, 0),) * 3
"""Three scans of nothing, to tell an endpoint that runs no programs from a program that is too long."""


class ScanReader:
    """Makes scans of one chain, at one block.

    Parameters
    ----------
    rpc : RpcPool
        Of the chain.
    multicall : Multicall
        For chains whose endpoints refuse calls to nobody.
    """

    def __init__(self, rpc: RpcPool, multicall: Multicall) -> None:
        self._rpc, self._multicall = rpc, multicall
        self._portion = Portion(FIRST_PORTION, LARGEST_PORTION)
        self._runs_programs: bool | None = None

    def read(self, scans: Sequence[Scan], at: Block) -> tuple[Outcome, ...]:
        """Return each scan's outcome at a block.

        Raises
        ------
        VenueUnavailable
            If no endpoint answers.
        """
        outcomes: list[Outcome] = []
        while len(outcomes) < len(scans):
            portion = self._take_next(scans[len(outcomes) :])
            outcomes += self._read_portion(portion, at)
        return tuple(outcomes)

    def _take_next(self, scans: Sequence[Scan]) -> Sequence[Scan]:
        """Return as many scans as a portion holds, at least one."""
        size = 0
        for number, each in enumerate(scans[:MOST_SCANS]):
            size += each.count
            if number and size > self._portion.size:
                return scans[:number]
        return scans[:MOST_SCANS]

    def _read_portion(self, scans: Sequence[Scan], at: Block) -> Sequence[Outcome]:
        if self._runs_programs is not False:
            answer = self._run(scans, at)
            if answer is not None:
                self._portion.grow(sum(each.count for each in scans))
                return answer
        if self._runs_programs is None:
            self._runs_programs = self._run(TRIAL, at) is not None
        if not self._runs_programs:
            return self._read_one_by_one(scans, at)
        return self._read_less(scans, at)

    def _run(self, scans: Sequence[Scan], at: Block) -> list[Outcome] | None:
        """Run the program; None where it is refused or cannot have run."""
        question = ("eth_call", [{"data": "0x" + build_program(scans).hex()}, hex(at.number)])
        answer = self._rpc.ask([question], _read_data, at)
        if answer is None:
            return None
        try:
            outcomes = split_result(answer, scans)
        except BadPayload:
            return None
        self._runs_programs = True
        return outcomes

    def _read_less(self, scans: Sequence[Scan], at: Block) -> Sequence[Outcome]:
        """Try again with less at a time; a single step that is refused counts as reverted."""
        self._portion.shrink(sum(each.count for each in scans))
        if len(scans) > 1:
            half = len(scans) // 2
            return (*self.read(scans[:half], at), *self.read(scans[half:], at))
        (only,) = scans
        if only.count <= 1:
            return (Outcome(b"", reverted=True),)
        first, second = self.read(only.halve(), at)
        return (only.join(first, second),)

    def _read_one_by_one(self, scans: Sequence[Scan], at: Block) -> Sequence[Outcome]:
        calls = [each.list_calls() for each in scans]
        outcomes = iter(self._multicall.read([call for each in calls for call in each], at))
        return [each.gather([next(outcomes) for _ in asked]) for each, asked in zip(scans, calls, strict=True)]


def _read_data(answers: list[Answer]) -> bytes | None:
    (answer,) = answers
    return None if isinstance(answer, RpcRefused) else read_hex(answer, "scan")

"""Many calls in one request, through the contract Multicall3, in portions that adapt to what endpoints bear."""

from __future__ import annotations

from collections.abc import Sequence

from eth_utils.crypto import keccak

from adapters.base import BadPayload, VenueUnavailable
from adapters.rpc.abi import Call, Outcome, read_hex
from adapters.rpc.adaptive_batch import Portion
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Answer, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool

MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
"""The same on all chains (mds1/multicall3)."""

AGGREGATE3 = keccak(text="aggregate3((address,bool,bytes)[])")[:4]
FIRST_PORTION = 512
LARGEST_PORTION = 4096
PATIENCE = 2
WORD = 32


class Multicall:
    """Reads contracts of one chain, at one block.

    Parameters
    ----------
    rpc : RpcPool
        Of the chain.
    address : str
        Where Multicall3 is.
    """

    def __init__(self, rpc: RpcPool, address: str = MULTICALL3) -> None:
        self._rpc, self._address = rpc, address
        self._portion = Portion(FIRST_PORTION, LARGEST_PORTION)

    def read(self, calls: Sequence[Call], at: Block) -> tuple[Outcome, ...]:
        """Return each call's outcome at a block.

        Raises
        ------
        VenueUnavailable
            If no endpoint answers as Multicall3 does.
        """
        outcomes: list[Outcome] = []
        patience = PATIENCE
        while len(outcomes) < len(calls):
            portion = calls[len(outcomes) : len(outcomes) + self._portion.size]
            try:
                answer = self._aggregate(portion, at)
            except VenueUnavailable:
                # Nobody says whether it was the size; but smaller portions are no cure for an outage.
                if len(portion) == 1 or not patience:
                    raise
                patience -= 1
                answer = None
            if answer is None:
                self._portion.shrink(len(portion))
                continue
            outcomes += answer
            patience = PATIENCE
            self._portion.grow(len(portion))
        return self._ask_again(calls, outcomes, at)

    def _aggregate(self, calls: Sequence[Call], at: Block) -> list[Outcome] | None:
        """Put one portion; give None where it is refused as too much."""
        question = make_question(calls, self._address)

        def parse(answers: list[Answer]) -> list[Outcome] | RpcRefused:
            (answer,) = answers
            if isinstance(answer, RpcRefused):
                return answer
            return decode_outcomes(read_hex(answer, "aggregate3"), len(calls))

        found = self._rpc.ask([("eth_call", [question, hex(at.number)])], parse, at)
        if isinstance(found, RpcRefused) and len(calls) == 1:
            raise VenueUnavailable(f"a single call is refused: {found}")
        return None if isinstance(found, RpcRefused) else found

    def _ask_again(self, calls: Sequence[Call], outcomes: list[Outcome], at: Block) -> tuple[Outcome, ...]:
        """Ask alone what reverted without a word among others: a greedy contract may have left it too little gas."""
        silent = [place for place, outcome in enumerate(outcomes) if outcome.reverted and not outcome.data]
        questions = [
            ("eth_call", [{"to": calls[place].to, "data": "0x" + calls[place].data.hex()}, hex(at.number)])
            for place in silent
        ]
        again = self._rpc.ask(questions, lambda answers: list(map(_read_alone, answers)), at) if questions else []
        for place, outcome in zip(silent, again, strict=True):
            outcomes[place] = outcome
        return tuple(outcomes)


def make_question(calls: Sequence[Call], address: str = MULTICALL3) -> dict[str, str]:
    """Return the call of Multicall3 that makes all of these calls, as ``eth_call`` takes it."""
    return {"to": address, "data": "0x" + (AGGREGATE3 + encode_calls(calls)).hex()}


def encode_calls(calls: Sequence[Call]) -> bytes:
    """Encode the argument of ``aggregate3``: every call may fail without the others."""
    tuples = [_encode_call(call) for call in calls]
    offsets, offset = [], WORD * len(calls)
    for each in tuples:
        offsets.append(_encode_word(offset))
        offset += len(each)
    return b"".join((_encode_word(WORD), _encode_word(len(calls)), *offsets, *tuples))


def decode_outcomes(data: bytes, count: int) -> list[Outcome]:
    """Decode the result of ``aggregate3``: `count` pairs of success and data.

    Raises
    ------
    BadPayload
        If the data is shorter than it says, or of another count.
    """
    start = _read_number(data, 0) + WORD
    if _read_number(data, start - WORD) != count:
        raise BadPayload(f"Multicall3 gave {_read_number(data, start - WORD)} outcomes for {count} calls")
    return [_read_outcome(data, start + _read_number(data, start + WORD * place)) for place in range(count)]


def _read_outcome(data: bytes, start: int) -> Outcome:
    success, inner = _read_number(data, start), start + _read_number(data, start + WORD)
    first = inner + WORD
    last = first + _read_number(data, inner)
    if success > 1 or last > len(data):
        raise BadPayload("an outcome of Multicall3 is malformed; is this the contract?")
    return Outcome(data[first:last], reverted=not success)


def _read_alone(answer: Answer) -> Outcome:
    return Outcome(b"", reverted=True) if isinstance(answer, RpcRefused) else Outcome(read_hex(answer, "eth_call"))


def _read_number(data: bytes, start: int) -> int:
    """Read a word that must be below the data's own length, as offsets and lengths are."""
    word = data[start : start + WORD]
    value = int.from_bytes(word)
    if len(word) < WORD or value > len(data):
        raise BadPayload("an answer of Multicall3 is cut off; is there a contract?")
    return value


def _encode_call(call: Call) -> bytes:
    padded = call.data.ljust(-len(call.data) % WORD + len(call.data), b"\0")
    return b"".join(
        (
            bytes(12),
            bytes.fromhex(call.to[2:]),
            _encode_word(1),
            _encode_word(3 * WORD),
            _encode_word(len(call.data)),
            padded,
        )
    )


def _encode_word(value: int) -> bytes:
    return value.to_bytes(WORD)

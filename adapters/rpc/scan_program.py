"""A view function asked for every number of a range, of which only the answers other than 0 are wanted.

A pool's bitmap has up to 6,931 words, nearly all of them 0. Asked one by one they cost a thousand bytes each; a program
that runs within one ``eth_call``, in the place of a contract's constructor, brings those that are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.base import BadPayload
from adapters.rpc.abi import Call, CallFailed, Function, Outcome

WORD = 32
SPACE = 3 * WORD
"""Bytes for a call's data: a selector and two arguments."""

_OUT, _SCAN, _STEP, _VALUE, _RECORD = 0x00, 0x20, 0x40, 0x60, 0x80
_TO, _SIZE, _DATA, _FIRST, _COUNT = 0x80, 0xA0, 0xC0, 0x120, 0x140
_RECORD_BYTES = 7 * WORD
_HEADER = 0x160
_HITS = _HEADER + WORD

_CODES = {
    "add": 0x01,
    "mul": 0x02,
    "sub": 0x03,
    "lt": 0x10,
    "gt": 0x11,
    "iszero": 0x15,
    "and": 0x16,
    "or": 0x17,
    "shl": 0x1B,
    "codesize": 0x38,
    "codecopy": 0x39,
    "returndatasize": 0x3D,
    "mload": 0x51,
    "mstore": 0x52,
    "jump": 0x56,
    "jumpi": 0x57,
    "gas": 0x5A,
    "dup1": 0x80,
    "swap1": 0x90,
    "return": 0xF3,
    "staticcall": 0xFA,
}
_PUSH2, _JUMPDEST = 0x61, 0x5B

_SOURCE = f"""
    {_HITS} {_OUT} mstore
outer:
    {_SCAN} mload {_RECORD_BYTES} mul @end add
    dup1 codesize gt iszero @done jumpi
    {_RECORD_BYTES} swap1 {_RECORD} codecopy
    0 {_STEP} mstore
inner:
    {_STEP} mload {_COUNT} mload gt iszero @next jumpi
    {_STEP} mload {_FIRST} mload add
    {_SIZE} mload {_DATA - WORD} add mstore
    {WORD} {_VALUE} {_SIZE} mload {_DATA} {_TO} mload gas staticcall
    returndatasize {WORD - 1} lt and iszero @failed jumpi
    {_VALUE} mload iszero @step jumpi
    {_SCAN} mload 64 shl {_STEP} mload or {_OUT} mload mstore
    {_VALUE} mload {_OUT} mload {WORD} add mstore
    {_OUT} mload {2 * WORD} add {_OUT} mstore
step:
    {_STEP} mload 1 add {_STEP} mstore
    @inner jump
failed:
    {_SCAN} mload 64 shl {_STEP} mload or 1 255 shl or {_OUT} mload mstore
    {_OUT} mload {2 * WORD} add {_OUT} mstore
next:
    {_SCAN} mload 1 add {_SCAN} mstore
    @outer jump
done:
    {_SCAN} mload {_HEADER} mstore
    {_HEADER} dup1 {_OUT} mload sub swap1 return
end:
"""
"""Numbers and labels push two bytes. Behind the program come the scans, one record each."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A function of one contract, asked for `count` numbers from `first` on: its last argument.

    Parameters
    ----------
    call : Call
        Any of them; its last argument does not matter.
    first, count : int
        Which numbers.
    """

    call: Call
    first: int
    count: int

    def decode(self, outcome: Outcome) -> dict[int, int]:
        """Return the answers other than 0, each an unsigned word, by number.

        Raises
        ------
        CallFailed
            If the contract failed for any number.
        """
        if outcome.reverted:
            raise CallFailed(f"{self.call.to} {self.call.function.signature}: failed within {self}")
        words = [outcome.data[start : start + WORD] for start in range(0, len(outcome.data), WORD)]
        numbers = [int.from_bytes(word) for word in words]
        return {self.first + step: value for step, value in zip(numbers[::2], numbers[1::2], strict=True)}

    def list_calls(self) -> tuple[Call, ...]:
        """Return the same questions one by one."""
        call, template = self.call, self.call.data[:-WORD]
        numbers = range(self.first, self.first + self.count)
        return tuple(Call(call.to, template + n.to_bytes(WORD, signed=True), call.function) for n in numbers)

    def gather(self, outcomes: Sequence[Outcome]) -> Outcome:
        """Return what the program would have given, from the outcomes of `list_calls`."""
        if any(outcome.reverted or len(outcome.data) < WORD for outcome in outcomes):
            return Outcome(b"", reverted=True)
        values = ((step, outcome.data[:WORD]) for step, outcome in enumerate(outcomes))
        return Outcome(b"".join(step.to_bytes(WORD) + value for step, value in values if any(value)))

    def halve(self) -> tuple[Scan, Scan]:
        """Split the range in two."""
        half = self.count // 2
        return Scan(self.call, self.first, half), Scan(self.call, self.first + half, self.count - half)

    def join(self, first: Outcome, second: Outcome) -> Outcome:
        """Return the outcome of the whole range from those of its halves."""
        if first.reverted or second.reverted:
            return Outcome(b"", reverted=True)
        half = self.halve()[0].count
        moved = (
            (int.from_bytes(second.data[start : start + WORD]) + half).to_bytes(WORD)
            + second.data[start + WORD : start + 2 * WORD]
            for start in range(0, len(second.data), 2 * WORD)
        )
        return Outcome(first.data + b"".join(moved))


def make_scan(function: Function, to: str, *arguments: object, numbers: range) -> Scan:
    """Return the scan of `function` over consecutive numbers, which come behind its other arguments."""
    return Scan(function(to, *arguments, numbers.start), numbers.start, len(numbers))


def build_program(scans: Sequence[Scan]) -> bytes:
    """Return the code that makes scans."""
    return _PROGRAM + b"".join(map(_encode_scan, scans))


def split_result(data: bytes, scans: Sequence[Scan]) -> list[Outcome]:
    """Return each scan's outcome from what the program returned.

    Raises
    ------
    BadPayload
        If the program cannot have returned this.
    """
    hits: list[list[bytes]] = [[] for _ in scans]
    failed = [False] * len(scans)
    if len(data) % (2 * WORD) != WORD or int.from_bytes(data[:WORD]) != len(scans):
        raise BadPayload("a scan's answer is not of the right length; does the endpoint run code without a contract?")
    last = (0, -1)
    for start in range(WORD, len(data), 2 * WORD):
        label = int.from_bytes(data[start : start + WORD])
        number, step = (label & 2**255 - 1) >> 64, label & 2**64 - 1
        if not last < (number, step) or number >= len(scans) or step >= scans[number].count:
            raise BadPayload("a scan's answer is out of order")
        last = (number, step)
        if label >> 255:
            failed[number] = True
        hits[number].append(step.to_bytes(WORD) + data[start + WORD : start + 2 * WORD])
    return [
        Outcome(b"", reverted=True) if bad else Outcome(b"".join(found))
        for found, bad in zip(hits, failed, strict=True)
    ]


def _encode_scan(each: Scan) -> bytes:
    data = each.call.data
    if len(data) > SPACE:
        raise ValueError(f"{each.call.function.signature} has more arguments than a scan can hold")
    numbers = (int(each.call.to, 16), len(data))
    head = b"".join(number.to_bytes(WORD) for number in numbers)
    return head + data.ljust(SPACE, b"\0") + each.first.to_bytes(WORD, signed=True) + each.count.to_bytes(WORD)


def _assemble(source: str) -> bytes:
    """Translate a program: numbers and ``@label`` push two bytes, ``label:`` can be jumped to, else an operation."""
    code, labels, uses = bytearray(), {}, []
    for word in source.split():
        if word.endswith(":"):
            labels[word[:-1]] = len(code)
            code += bytes([_JUMPDEST])
        elif word.startswith("@"):
            uses.append((len(code) + 1, word[1:]))
            code += bytes([_PUSH2, 0, 0])
        elif word.isdecimal():
            code += bytes([_PUSH2]) + int(word).to_bytes(2)
        else:
            code.append(_CODES[word])
    # The records begin behind the last label, which nothing jumps to.
    labels["end"] += 1
    for place, label in uses:
        code[place : place + 2] = labels[label].to_bytes(2)
    return bytes(code)


_PROGRAM = _assemble(_SOURCE)

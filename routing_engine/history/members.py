"""The frames of a recording: gzip members, of which each says in its header how long it is and what is in it.

Any reader of gzip gives a recording as lines of JSON, one a member. Who knows of the headers jumps from one to the next
without unpacking any. An interrupted write leaves a last member that is shorter than it says.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from routing_engine.errors import BadRecording
from routing_engine.json_faults import describe_fault

FIXED = struct.Struct("<4sIBBH")
"""Magic, method and flags; time; two bytes that say nothing here; length of what is extra (RFC 1952)."""
START, SYSTEM = b"\x1f\x8b\x08\x04", 255
FIELD = struct.Struct("<2sHQ")
"""Within the extra part: whose it is, its length, and the length of the whole member; then the head as JSON."""
OWNER = b"RE"
NEXT = re.compile(re.escape(START) + rb"\x00{5}\xff.." + OWNER, re.DOTALL)
"""What a member begins with."""
ENDING = struct.Struct("<II")
"""Checksum and length of the content."""
LEVEL = 6
LONGEST = 2**29
"""Bytes that a member may unpack to: more is taken for an attack on memory."""


@dataclass(frozen=True, slots=True)
class Member:
    """Where a member is, how long it is, and its head."""

    offset: int
    size: int
    head: dict[str, Any]


def pack_member(head: dict[str, Any], document: dict[str, Any]) -> bytes:
    """Return a member that holds one line of JSON: the document, with the head as ``head``."""
    line = _compact({"head": head, **document}) + b"\n"
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(line) + packer.flush() + ENDING.pack(zlib.crc32(line), len(line) & 0xFFFFFFFF)
    told = _compact(head)
    extra = FIELD.size + len(told)
    size = FIXED.size + extra + len(body)
    start = FIXED.pack(START, 0, 0, SYSTEM, extra)
    return start + FIELD.pack(OWNER, extra - 4, size) + told + body


def scan_members(file: IO[bytes], path: Path) -> Iterator[Member]:
    """Yield the members that are whole, from the beginning; the rest of the file is what an interrupted write left.

    Raises
    ------
    BadRecording
        If something else stands where a member should begin.
    """
    end = file.seek(0, 2)
    offset = 0
    while offset < end:
        member = _read_head(file, offset, end, path)
        if member is None:
            return
        yield member
        offset += member.size


def read_member(file: IO[bytes], member: Member, path: Path) -> dict[str, Any]:
    """Return a member's document.

    Raises
    ------
    BadRecording
        If it is damaged.
    """
    file.seek(member.offset)
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        line = unpacker.decompress(file.read(member.size), LONGEST)
        document = json.loads(line)
    except ValueError as error:
        fault = describe_fault(line, error)
        raise BadRecording(str(path), f"byte {member.offset}", f"is damaged: it {fault}") from error
    except (zlib.error, RecursionError) as error:
        raise BadRecording(str(path), f"byte {member.offset}", f"is damaged ({error})") from error
    if not unpacker.eof or unpacker.unused_data or not isinstance(document, dict):
        raise BadRecording(str(path), f"byte {member.offset}", "is damaged (it is not of the length that it says)")
    if document.pop("head", None) != member.head:
        raise BadRecording(str(path), f"byte {member.offset}", "is damaged (its header is not that of its content)")
    return document


def _read_head(file: IO[bytes], offset: int, end: int, path: Path) -> Member | None:
    """Return the member at an offset; None where the file breaks off in it."""
    file.seek(offset)
    start = file.read(FIXED.size + FIELD.size)
    if len(start) < FIXED.size + FIELD.size or not any(start):
        return None  # a machine that lost its power may leave zeros at the end
    magic, _, _, _, extra = FIXED.unpack_from(start)
    owner, length, size = FIELD.unpack_from(start, FIXED.size)
    if (magic, owner) != (START, OWNER) or length != extra - 4 or size <= FIXED.size + extra:
        raise BadRecording(
            str(path), f"byte {offset}", "begins no block: this is no recording; a market takes its deltas as deltas=…"
        )
    if offset + size > end:
        _refuse_further(file, offset, path)
        return None
    try:
        head = json.loads(file.read(length - 8))
    except ValueError as error:
        raise BadRecording(str(path), f"byte {offset}", f"is damaged ({error})") from error
    return Member(offset, size, head)


def _refuse_further(file: IO[bytes], offset: int, path: Path) -> None:
    """Refuse a file in which a member is too short and others come after it: then its length is wrong."""
    file.seek(offset + 1)
    if NEXT.search(file.read()):
        raise BadRecording(str(path), f"byte {offset}", "is damaged (it is not of the length that it says)")


def _compact(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()

"""Recognise a small picture by what is in it, whatever its sender calls it.

Only what browsers draw and never run: PNG, JPEG and WebP, no SVG. The file has to be one picture from its first byte to
its last, which stands still, and is not so large that drawing it would exhaust a phone. It says its size once, where
all decoders look for it: a second size is what another decoder might believe.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

MAX_BYTES = 40 * 1024
"""In base64 with the rest of its request it stays within the 64 kB of a body."""
MAX_SIDE = 2048
MOST_SCANS = 32
"""Of a JPEG, which has about ten: each is drawn over the whole picture, and takes only some bytes."""

PNG, JPEG, WEBP = "image/png", "image/jpeg", "image/webp"
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_START, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_JPEG_SCAN = b"\xff\xda"
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of the segments that have the size in them."""
_JPEG_FRAME = re.compile(b"\xff[%s]" % bytes(sorted(_JPEG_FRAMES)))
"""Such a marker after the first scan, whose data never look like one."""
_ANIMATED = 0x02
_WEBP_MOVING = frozenset({b"ANIM", b"ANMF"})
_WEBP_PICTURES = (b"VP8 ", b"VP8L")
_VP8_START = b"\x9d\x01\x2a"


class BadPicture(Exception):
    """A picture that is not taken; the message says why."""


def identify_picture(content: bytes) -> str:
    """Return the media type of a picture.

    Raises
    ------
    BadPicture
        If it is none that is taken.
    """
    if not content or len(content) > MAX_BYTES:
        raise BadPicture(f"Must have 1 to {MAX_BYTES} bytes; this has {len(content)}")
    media_type = _recognise(content)
    try:
        width, height = {PNG: _measure_png, JPEG: _measure_jpeg, WEBP: _measure_webp}[media_type](content)
    except (struct.error, IndexError):
        raise BadPicture("The picture is cut off") from None
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise BadPicture(f"Must be at most {MAX_SIDE} pixels wide and high; this is {width} by {height}")
    return media_type


def _recognise(content: bytes) -> str:
    if content.startswith(_PNG_SIGNATURE):
        return PNG
    if content.startswith(_JPEG_START):
        return JPEG
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return WEBP
    raise BadPicture("Expected a PNG, JPEG or WebP picture")


def _measure_png(content: bytes) -> tuple[int, int]:
    (first, at), *rest = _read_png(content)
    kinds = [kind for kind, _ in rest]
    if b"acTL" in kinds:
        raise BadPicture("The picture must not move")
    if first != b"IHDR" or b"IHDR" in kinds or b"IDAT" not in kinds:
        raise BadPicture("The picture is damaged")
    width, height = struct.unpack_from(">II", content, at)
    return int(width), int(height)


def _read_png(content: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the kind of each chunk and where its data begin; nothing may follow the last one."""
    at = len(_PNG_SIGNATURE)
    kind = b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", content, at)
        yield kind, at + 8
        at += 12 + length
    if at != len(content):
        raise BadPicture("Something else follows the picture" if at < len(content) else "The picture is cut off")


def _measure_jpeg(content: bytes) -> tuple[int, int]:
    if not content.endswith(_JPEG_END):
        raise BadPicture("The picture is cut off, or something else follows it")
    if content.count(_JPEG_SCAN) > MOST_SCANS:
        raise BadPicture(f"Must be drawn in at most {MOST_SCANS} scans")
    segments = list(_read_jpeg(content))
    frames = [at for marker, at in segments if marker in _JPEG_FRAMES]
    if len(frames) != 1 or _JPEG_FRAME.search(content, segments[-1][1]):
        raise BadPicture("The picture is damaged")
    height, width = struct.unpack_from(">HH", content, frames[0] + 5)
    return int(width), int(height)


def _read_jpeg(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the marker of each segment and where it begins, up to the first that is drawn."""
    at, marker = 2, 0
    while marker != _JPEG_SCAN[1]:
        start, marker, length = struct.unpack_from(">BBH", content, at)
        if start != 0xFF or length < 2:
            raise BadPicture("The picture is damaged")
        yield marker, at
        at += 2 + length


def _measure_webp(content: bytes) -> tuple[int, int]:
    """Return the larger of what the canvas and the one picture on it say, which decoders may take for the size."""
    (size,) = struct.unpack_from("<I", content, 4)
    if size + 8 != len(content):
        raise BadPicture("The picture is cut off, or something else follows it")
    chunks = list(_read_webp(content))
    pictures = [chunk for chunk in chunks if chunk[0] in _WEBP_PICTURES]
    if len(pictures) != 1 or chunks[0][0] not in (*_WEBP_PICTURES, b"VP8X"):
        raise BadPicture("The picture is damaged")
    sizes = [_measure_webp_chunk(kind, data) for kind, data in (chunks[0], *pictures)]
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def _read_webp(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each chunk's kind and data."""
    at = 12
    while at < len(content):
        kind, length = struct.unpack_from("<4sI", content, at)
        if at + 8 + length > len(content):
            raise BadPicture("The picture is cut off")
        if kind in _WEBP_MOVING:
            raise BadPicture("The picture must not move")
        yield kind, content[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


def _measure_webp_chunk(kind: bytes, data: bytes) -> tuple[int, int]:
    if kind == b"VP8X":
        if data[0] & _ANIMATED:
            raise BadPicture("The picture must not move")
        return 1 + int.from_bytes(data[4:7], "little"), 1 + int.from_bytes(data[7:10], "little")
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 1)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if data[3:6] != _VP8_START:
        raise BadPicture("The picture is damaged")
    width, height = struct.unpack_from("<HH", data, 6)
    return width & 0x3FFF, height & 0x3FFF

"""Recognise a small picture by what is in it, whatever its sender calls it.

Only what browsers draw and never run: PNG, JPEG and WebP, no SVG. The file has to be one picture from its first byte to
its last, which still stands still, and is not so large that drawing it would exhaust a phone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAX_BYTES = 40 * 1024
"""In base64 with the rest of its request it stays within the 64 kB of a body."""
MAX_SIDE = 2048

PNG, JPEG, WEBP = "image/png", "image/jpeg", "image/webp"
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_START, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of the segments that have the size in them."""
_ANIMATED = 0x02
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
    chunks = dict(_read_png(content))
    if b"acTL" in chunks:
        raise BadPicture("The picture must not move")
    if b"IHDR" not in chunks or b"IDAT" not in chunks:
        raise BadPicture("The picture is damaged")
    width, height = struct.unpack_from(">II", content, chunks[b"IHDR"])
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
    at = 2
    while True:
        start, marker, length = struct.unpack_from(">BBH", content, at)
        if start != 0xFF or length < 2:
            raise BadPicture("The picture is damaged")
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return int(width), int(height)
        at += 2 + int(length)


def _measure_webp(content: bytes) -> tuple[int, int]:
    (size,) = struct.unpack_from("<I", content, 4)
    if size + 8 != len(content):
        raise BadPicture("The picture is cut off, or something else follows it")
    kind, data = content[12:16], content[20:]
    if kind == b"VP8X":
        if data[0] & _ANIMATED:
            raise BadPicture("The picture must not move")
        return 1 + int.from_bytes(data[4:7], "little"), 1 + int.from_bytes(data[7:10], "little")
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 1)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and data[3:6] == _VP8_START:
        width, height = struct.unpack_from("<HH", data, 6)
        return width & 0x3FFF, height & 0x3FFF
    raise BadPicture("The picture is damaged")

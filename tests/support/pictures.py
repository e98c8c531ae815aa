"""Small pictures, made from their formats' descriptions."""

from __future__ import annotations

import struct
import zlib


def make_png(width: int = 96, height: int = 96, *, colour: bytes = b"\x0b\x5f\xff", extra: bytes = b"") -> bytes:
    """Make a PNG of one colour; `extra` are chunks between its header and its data."""
    row = b"\x00" + colour * min(width, 4096)
    data = zlib.compress(row * min(height, 256))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    """Make a chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_jpeg(width: int = 96, height: int = 96, *, scans: int = 1, extra: bytes = b"") -> bytes:
    """Make what is around the data of a JPEG; `extra` follows the scans."""
    drawn = b"\xff\xda\x00\x02" * scans
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(9) + make_frame(width, height) + drawn + extra + b"\xff\xd9"


def make_frame(width: int, height: int) -> bytes:
    """Make the segment of a JPEG that says its size."""
    return struct.pack(">BBHBHHB", 0xFF, 0xC0, 17, 8, height, width, 3) + bytes(9)


def make_webp(
    kind: bytes = b"VP8X", width: int = 96, height: int = 96, *, flags: int = 0, extra: bytes | None = None
) -> bytes:
    """Make what is around the data of a WebP; `extra` are chunks at its end, by default what a canvas needs."""
    data = {
        b"VP8X": bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        b"VP8L": b"\x2f" + (_cut(width) | _cut(height) << 14).to_bytes(7, "little"),
        b"VP8 ": b"\x00\x00\x00\x9d\x01\x2a" + width.to_bytes(4, "little")[:2] + height.to_bytes(4, "little")[:2],
    }[kind]
    if extra is None:
        extra = make_webp(b"VP8L", width, height)[12:] if kind == b"VP8X" else b""
    body = b"WEBP" + make_webp_chunk(kind, data) + extra
    return b"RIFF" + struct.pack("<I", len(body)) + body


def make_webp_chunk(kind: bytes, data: bytes) -> bytes:
    """Make a chunk of a WebP."""
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def _cut(side: int) -> int:
    return min(side - 1, 0x3FFF)

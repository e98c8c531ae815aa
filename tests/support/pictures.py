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


def make_jpeg(width: int = 96, height: int = 96) -> bytes:
    """Make what is around the data of a JPEG."""
    frame = struct.pack(">BBHBHHB", 0xFF, 0xC0, 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(9) + frame + b"\xff\xda\x00\x02\xff\xd9"


def make_webp(kind: bytes = b"VP8X", width: int = 96, height: int = 96, *, flags: int = 0) -> bytes:
    """Make what is around the data of a WebP."""
    data = {
        b"VP8X": bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        b"VP8L": b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(7, "little"),
        b"VP8 ": b"\x00\x00\x00\x9d\x01\x2a" + width.to_bytes(4, "little")[:2] + height.to_bytes(4, "little")[:2],
    }[kind]
    body = b"WEBP" + kind + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body

"""How bytes are made shorter for their way to a browser."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import brotli

IDENTITY, BROTLI, GZIP = "identity", "br", "gzip"
PREFERRED = (BROTLI, GZIP)
_TYPES = frozenset(
    {
        "text/html",
        "text/css",
        "text/javascript",
        "text/plain",
        "application/json",
        "application/manifest+json",
        "image/svg+xml",
    }
)
_QUICK = {BROTLI: 8, GZIP: 6}
"""A page of 55 kB takes 3 to 6 ms at these, and becomes a tenth longer than at the highest."""


def is_compressible(mimetype: str) -> bool:
    """Say whether a type of content becomes shorter; pictures and streams of events do not."""
    return mimetype in _TYPES


def compress_quickly(body: bytes, encoding: str) -> bytes:
    """Compress what is made for one answer."""
    if encoding == BROTLI:
        shorter: bytes = brotli.compress(body, mode=brotli.MODE_TEXT, quality=_QUICK[BROTLI])
        return shorter
    return gzip.compress(body, _QUICK[GZIP], mtime=0)


def compress_well(body: bytes) -> Mapping[str, bytes]:
    """Compress what is sent many times, in every way; a way that gains nothing is left out."""
    tried = {BROTLI: brotli.compress(body, mode=brotli.MODE_TEXT), GZIP: gzip.compress(body, 9, mtime=0)}
    return {encoding: shorter for encoding, shorter in tried.items() if len(shorter) < len(body)}

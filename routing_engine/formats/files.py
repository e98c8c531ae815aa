"""JSON files, compressed or not, with errors that name the file."""

from __future__ import annotations

import gzip
import json
import secrets
import zlib
from pathlib import Path
from typing import Any

from routing_engine.errors import BadFile, BadMarketFile
from routing_engine.nesting import TooDeep, refuse_deep

GZIP_MAGIC = b"\x1f\x8b"


def read_bytes(path: Path, bad: type[BadFile] = BadMarketFile) -> bytes:
    """Return the content of a file, decompressed if it is compressed, whatever its name.

    Raises
    ------
    BadFile
        Of the kind `bad`, if it cannot be read or is truncated.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise bad(str(path), "", f"cannot be read ({error.strerror}); check the path") from error
    if not raw.startswith(GZIP_MAGIC):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise bad(str(path), "", f"the compressed data is damaged ({error}); fetch it again") from error


def read_json(path: Path, bad: type[BadFile] = BadMarketFile) -> Any:
    """Return the parsed content of a file.

    Raises
    ------
    BadFile
        Of the kind `bad`, if it cannot be read, is truncated, or is not JSON.
    """
    raw = read_bytes(path, bad)
    try:
        refuse_deep(raw)
        return json.loads(raw)
    except (UnicodeDecodeError, TooDeep) as error:
        raise bad(str(path), "", f"is not JSON text ({error})") from error
    except ValueError as error:
        raise bad(str(path), "", f"is not valid JSON: {error}; is it truncated?") from error


def write_json(path: Path, document: Any) -> None:
    """Write atomically: beside the target first, then renamed over it."""
    data = json.dumps(document, separators=(",", ":")).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    # Not tempfile: its files are readable by their owner only, and the market file would inherit that.
    beside = path.parent / f"{path.name}.{secrets.token_hex(6)}"
    try:
        with beside.open("xb") as file:
            file.write(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)

"""JSON files, compressed or not, with errors that name the file."""

from __future__ import annotations

import gzip
import json
import secrets
import zlib
from pathlib import Path
from typing import Any

from routing_engine.errors import BadMarketFile

GZIP_MAGIC = b"\x1f\x8b"


def read_json(path: Path) -> Any:
    """Return the parsed content of a file.

    Raises
    ------
    BadMarketFile
        If it cannot be read, is truncated, or is not JSON.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadMarketFile(str(path), "", f"cannot be read ({error.strerror}); check the path") from error
    if raw.startswith(GZIP_MAGIC):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadMarketFile(str(path), "", f"the compressed data is damaged ({error}); fetch it again") from error
    try:
        return json.loads(raw)
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadMarketFile(str(path), "", f"is not JSON text ({error})") from error
    except ValueError as error:
        raise BadMarketFile(str(path), "", f"is not valid JSON: {error}; is it truncated?") from error


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

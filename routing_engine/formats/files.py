"""JSON files, compressed or not, with errors that name the file."""

from __future__ import annotations

import gzip
import json
import secrets
import zlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from routing_engine.errors import BadFile, BadMarketFile, InvalidRequest
from routing_engine.json_faults import describe_fault
from routing_engine.nesting import TooDeep, refuse_deep

GZIP_MAGIC = b"\x1f\x8b"


def read_path(path: object) -> Path:
    """Return the path of a file; raise `InvalidRequest` for what is none."""
    if not isinstance(path, str | PathLike) or not str(path):
        raise InvalidRequest("path", f"must be the path of a file, such as 'market.json.gz', not {path!r}")
    return Path(path)


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
    return _decompress(raw, str(path), bad)


def read_json(
    path: Path, bad: type[BadFile] = BadMarketFile, *, parse_float: Callable[[str], object] | None = None
) -> Any:
    """Return the parsed content of a file; `parse_float` reads what is no integer, a float without.

    Raises
    ------
    BadFile
        Of the kind `bad`, if it cannot be read, is truncated, or is not JSON.
    """
    return _parse(read_bytes(path, bad), str(path), bad, parse_float)


def pack_json(document: Any) -> bytes:
    """Return a document as compressed JSON, compressed quickly rather than well."""
    return gzip.compress(_compact(document), compresslevel=1, mtime=0)


def unpack_json(data: bytes, name: str) -> Any:
    """Inverse of `pack_json`; `name` stands for the file in errors, which are those of `read_json`."""
    return _parse(_decompress(data, name, BadMarketFile), name, BadMarketFile)


def write_json(path: Path, document: Any, bad: type[BadFile] = BadMarketFile) -> None:
    """Write atomically: beside the target first, then renamed over it.

    Raises
    ------
    BadFile
        Of the kind `bad`, if the folder is missing.
    """
    data = _compact(document)
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    # Not tempfile: its files are readable by their owner only, and the market file would inherit that.
    beside = path.parent / f"{path.name}.{secrets.token_hex(6)}"
    try:
        with beside.open("xb") as file:
            file.write(data)
        beside.replace(path)
    except FileNotFoundError as error:
        raise bad(str(path), "", f"cannot be written; its folder {path.parent} is missing, so make it") from error
    finally:
        beside.unlink(missing_ok=True)


def _decompress(raw: bytes, name: str, bad: type[BadFile]) -> bytes:
    if not raw.startswith(GZIP_MAGIC):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise bad(name, "", f"the compressed data is damaged ({error}); fetch it again") from error


def _parse(raw: bytes, name: str, bad: type[BadFile], parse_float: Callable[[str], object] | None = None) -> Any:
    try:
        refuse_deep(raw)
        return json.loads(raw, parse_float=parse_float)
    except (UnicodeDecodeError, TooDeep) as error:
        raise bad(name, "", f"is not JSON text ({error})") from error
    except ValueError as error:
        raise bad(name, "", describe_fault(raw, error)) from error


def _compact(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()

"""A capture's replies on disk, so that one that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from adapters.base import BadPayload
from adapters.rpc.block import Block
from adapters.rpc.reading import Reply, Request, Responder
from adapters.rpc.recording import decode_block, decode_reply, encode_block, encode_reply
from adapters.rpc.scan_program import Scan

VERSION = 1
PORTION = 4096

Progress = Callable[[int, int], None]
"""Told how many calls were answered so far, and how many were asked for."""


class CaptureLog:
    """The replies of one chain's capture: one line for the block, then one for each portion of calls.

    What was asked is not kept but its hash: on other questions than the recorded ones, nothing is taken from the file.

    Parameters
    ----------
    path : Path
        Of the file; it need not exist.
    progress : callable
        Told after every portion.
    portion : int
        Calls that are asked, and written down, at a time.
    """

    def __init__(self, path: Path, progress: Progress = lambda done, asked: None, *, portion: int = PORTION) -> None:
        self.path, self.portion = path, portion
        self._progress = progress
        self._done = self._asked = 0
        self._recorded: Iterator[tuple[str, Reply]] = iter(())
        self._file: IO[str] | None = None
        self._is_sealed = False

    def read_block(self) -> Block | None:
        """Return the block of the recording, or None where there is no usable one."""
        lines = self._read_lines()
        header = next(lines, None)
        if not isinstance(header, dict) or header.get("version") != VERSION:
            return None
        try:
            return decode_block(header["block"])
        except (KeyError, TypeError, ValueError):
            return None

    def wrap(self, responder: Responder, at: Block) -> Responder:
        """Answer from the recording as far as it goes, then from `responder`, recording its answers."""
        if self._is_sealed:
            return responder
        self.close()
        self._done = self._asked = 0
        kept = list(self._read_replies()) if self.read_block() == at else []
        self._recorded = iter(kept)
        beside = self.path.with_name(f"{self.path.name}.new")
        with beside.open("w", encoding="utf-8") as file:
            file.write(_format_line({"version": VERSION, "block": encode_block(at)}))
            file.writelines(_format_portion(digest, reply) for digest, reply in kept)
        beside.replace(self.path)
        self._file = self.path.open("a", encoding="utf-8")
        return _Logging(self, responder)

    def seal(self) -> None:
        """Record no more: what follows is no part of the capture."""
        self.close()
        self._is_sealed = True

    def close(self) -> None:
        """Close the file; what is in it stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Delete the file: nothing is to be gone on with."""
        self.close()
        self.path.unlink(missing_ok=True)

    def expect(self, calls: int) -> None:
        """Count calls that will be asked."""
        self._asked += calls
        self._progress(self._done, self._asked)

    def reply_to(self, request: Request, responder: Responder) -> Reply:
        """Return the recorded reply to a portion, or ask and record."""
        digest = _digest(request)
        found = next(self._recorded, None)
        if found is not None and found[0] == digest:
            reply = found[1]
        else:
            self._recorded = iter(())
            reply = responder.answer(request)
            if self._file is not None:
                self._file.write(_format_portion(digest, reply))
                self._file.flush()
        self._done += len(request.calls)
        self._progress(self._done, self._asked)
        return reply

    def _read_replies(self) -> Iterator[tuple[str, Reply]]:
        """Read the recorded portions up to the first that is damaged, as a killed process leaves one."""
        lines = self._read_lines()
        next(lines, None)
        for line in lines:
            try:
                yield str(line["digest"]), decode_reply(line["reply"])
            except (KeyError, TypeError, ValueError, BadPayload):
                return

    def _read_lines(self) -> Iterator[Any]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return
        for line in text.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                return


class _Logging:
    """Splits requests into portions and puts them to the log."""

    def __init__(self, log: CaptureLog, responder: Responder) -> None:
        self._log, self._responder = log, responder

    def answer(self, request: Request) -> Reply:
        """See `Responder`."""
        self._log.expect(len(request.calls))
        calls = request.calls
        size = self._log.portion
        parts = [Request(calls=calls[start : start + size]) for start in range(0, len(calls), size)]
        if request.filters:
            parts.append(Request(filters=request.filters))
        replies = [self._log.reply_to(part, self._responder) for part in parts]
        return Reply(
            outcomes=tuple(outcome for reply in replies for outcome in reply.outcomes),
            logs=tuple(logs for reply in replies for logs in reply.logs),
        )


def _digest(request: Request) -> str:
    found = hashlib.blake2b(digest_size=16)
    for call in request.calls:
        one, numbers = (call.call, (call.first, call.count)) if isinstance(call, Scan) else (call, ())
        found.update(f"{one.to}{one.data.hex()}{numbers}".encode())
    found.update(repr(request.filters).encode())
    return found.hexdigest()


def _format_portion(digest: str, reply: Reply) -> str:
    return _format_line({"digest": digest, "reply": encode_reply(reply)})


def _format_line(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":")) + "\n"

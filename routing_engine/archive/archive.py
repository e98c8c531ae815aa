"""An answer with all that it rests on, so that anybody can ask again and get the same, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routing_engine import __version__
from routing_engine.archive.request_records import describe_request, read_request
from routing_engine.archive.result_records import describe_result
from routing_engine.errors import BadArchive, BadMarketFile, InvalidRequest
from routing_engine.formats import native
from routing_engine.formats.files import read_json, read_path, write_json
from routing_engine.request import RouteRequest
from routing_engine.result import RouteResult
from routing_engine.values import seal

if TYPE_CHECKING:
    from routing_engine.router import Router
    from routing_engine.snapshot.snapshot import Snapshot

FORMAT = "routing-engine-archive"
VERSION = 1
PARETO, ROUTES = "find_pareto_set", "find_routes"


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A request, the snapshot that it was asked on, and the answer.

    Parameters
    ----------
    request : RouteRequest
        The question; its tokens may be names.
    snapshot : Snapshot
        What was searched.
    answer : mapping
        As `describe_result` writes it.
    engine : str
        Version of the library that answered.
    search : {"find_routes", "find_pareto_set"}
        Which of the router's searches.
    """

    request: RouteRequest
    snapshot: Snapshot
    answer: Mapping[str, Any]
    engine: str = __version__
    search: str = ROUTES

    def __repr__(self) -> str:
        request = self.request
        ends = f"{request.amount} of {request.token_in} to {request.token_out}, {request.side}"
        return f"Archive({self.search}: {ends}; snapshot {self.snapshot.id[:8]}; {self.answer.get('status')})"

    @classmethod
    def of(cls, result: RouteResult, snapshot: Snapshot, *, search: str = ROUTES) -> Archive:
        """Keep what a router answered on `snapshot`."""
        return cls(request=result.request, snapshot=snapshot, answer=describe_result(result), search=search)

    def replay(self, router: Router) -> Replay:
        """Ask again; `router` is on this archive's snapshot."""
        result = (router.find_pareto_set if self.search == PARETO else router.find_routes)(self.request)
        return Replay(archive=self, result=result)

    def save(self, path: str | Path) -> None:
        """Write one file, compressed if its name ends in ``.gz``; atomic."""
        write_json(read_path(path), self.describe(), BadArchive)

    def describe(self) -> dict[str, Any]:
        """Return the JSON document of the archive."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "engine": self.engine,
            "search": self.search,
            "request": describe_request(self.request),
            "answer": self.answer,
            "snapshot": native.build_document(self.snapshot.contents),
        }

    @classmethod
    def load(cls, path: str | Path) -> Archive:
        """Read what `save` wrote.

        Raises
        ------
        BadArchive
            Naming the file and the field.
        """
        return cls.parse(read_json(read_path(path), BadArchive), str(path))

    @classmethod
    def parse(cls, document: Any, path: str) -> Archive:
        """Inverse of `describe`; raises as `load`."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadArchive(path, "format", f"is not {FORMAT!r}; `routing-engine route --archive FILE` writes one")
        if document.get("version") != VERSION:
            found = document.get("version")
            raise BadArchive(path, "version", f"is {found!r}; this library reads version {VERSION}")
        if document.get("search") not in (ROUTES, PARETO):
            raise BadArchive(path, "search", f"must be {ROUTES!r} or {PARETO!r}, not {document.get('search')!r}")
        parts = {name: _read_part(document, name, path) for name in ("request", "answer", "snapshot")}
        return cls(
            request=_read_request(parts["request"], path),
            snapshot=_read_snapshot(parts["snapshot"], path),
            answer=parts["answer"],
            engine=str(document.get("engine", "")),
            search=document["search"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What asking again gave."""

    archive: Archive
    result: RouteResult

    def __repr__(self) -> str:
        return f"Replay({f'{self.difference} differs' if self.difference else 'the same answer'}; {self.archive!r})"

    @property
    def difference(self) -> str:
        """Dotted name of the first field of the answer that is another now; empty where every one is the same."""
        return find_difference(self.archive.answer, describe_result(self.result))

    @property
    def cause(self) -> str:
        """Return what may explain a difference; empty where nothing does."""
        if self.archive.engine != __version__:
            return f"routing-engine {self.archive.engine} answered, and this is {__version__}"
        if self.archive.answer.get("is_complete") is False and self.archive.request.time_budget_ms is not None:
            return "the first search ended with its budget of time, and so depends on the machine's speed"
        return ""


def find_difference(before: object, now: object) -> str:
    """Return the dotted name of the first field in which two JSON values differ; empty where they are the same."""
    return _find_difference(json.loads(json.dumps(before)), json.loads(json.dumps(now)), "")


def _find_difference(before: Any, now: Any, name: str) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [*before, *(key for key in now if key not in before)]
        parts = [(str(key), before.get(key), now.get(key)) for key in keys]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        parts = [(str(number), *pair) for number, pair in enumerate(zip(before, now, strict=True))]
    else:
        return "" if before == now and type(before) is type(now) else name or "answer"
    found = (_find_difference(old, new, f"{name}.{key}".lstrip(".")) for key, old, new in parts)
    return next(filter(None, found), "")


def _read_part(document: Mapping[str, Any], name: str, path: str) -> Any:
    part = document.get(name)
    if not isinstance(part, dict):
        raise BadArchive(path, name, "is missing or no JSON object; is the file truncated?")
    return part


def _read_request(record: Mapping[str, Any], path: str) -> RouteRequest:
    try:
        return read_request(record)
    except InvalidRequest as error:
        raise BadArchive(path, f"request.{error.field}", error.message) from error
    except TypeError as error:
        raise BadArchive(path, "request", f"does not have the fields of a request ({error})") from error


def _read_snapshot(record: Mapping[str, Any], path: str) -> Snapshot:
    from routing_engine.snapshot.snapshot import Snapshot

    try:
        return Snapshot.of(native.parse(record, path))
    except BadMarketFile as error:
        raise BadArchive(path, f"snapshot.{error.field}", error.message) from error

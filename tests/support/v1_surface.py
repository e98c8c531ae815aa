"""What v1 promises its callers, read from the OpenAPI document; run as a module, this records it anew.

Record it with each release: what is recorded can never be taken away again, nor can more be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.openapi.document import list_operations

RECORD = Path(__file__).parents[1] / "api" / "v1_surface.txt"
GIVES, TAKES, REQUIRES = "gives", "takes", "requires"


def list_surface(document: dict[str, Any]) -> set[str]:
    """Return a line for everything that an operation gives, takes or requires."""
    return {
        line
        for path, method, operation in list_operations(document)
        for line in _list(document, path, method, operation)
    }


def read_record() -> set[str]:
    """Return what was recorded."""
    return set(RECORD.read_text(encoding="utf-8").splitlines())


def _list(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    where = f"{method.upper()} {path}"
    for parameter in operation["parameters"]:
        name = f"{parameter['in']} {parameter['name']}"
        if parameter.get("required", False):
            yield f"{REQUIRES} {where} {name}"
        schema = _resolve(document, parameter["schema"])
        yield from _walk(document, schema, TAKES, f"{where} {name}")
        if schema.get("type") == "array" and parameter["in"] == "query":
            yield from _walk(document, schema["items"], TAKES, f"{where} {name}")  # given once, it is a list of one
    for media in operation.get("requestBody", {}).get("content", {}).values():
        yield from _walk(document, media["schema"], TAKES, f"{where} body")
    for status, response in operation["responses"].items():
        if status >= "300":
            continue  # refusals all have one body, which every test holds to its form
        for kind, media in _resolve(document, response).get("content", {}).items():
            yield from _walk(document, media["schema"], GIVES, f"{where} {status} {kind}")


def _walk(document: dict[str, Any], schema: dict[str, Any], verb: str, where: str) -> Iterator[str]:
    """Yield a type for each value, its words where they are taken, and the same for what is in it."""
    found = _resolve(document, schema)
    for inner in (*found.get("oneOf", ()), *found.get("anyOf", ()), *found.get("allOf", ())):
        yield from _walk(document, inner, verb, where)
    kinds = found.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield f"{verb} {where}: {kind}"
    if verb == TAKES:
        yield from (f"{verb} {where} = {word}" for word in found.get("enum", ()))
        yield from (f"{REQUIRES} {where}.{name}" for name in found.get("required", ()))
    for name, inner in found.get("properties", {}).items():
        yield from _walk(document, inner, verb, f"{where}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(found.get(name), dict):
            yield from _walk(document, found[name], verb, f"{where}.*")


def _resolve(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    found: Any = value
    while "$ref" in found:
        node: Any = document
        for part in found["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        found = node
    return dict(found)


if __name__ == "__main__":
    from tests.clients.generation.service_document import read_service_document

    RECORD.write_text("\n".join(sorted(list_surface(read_service_document()))) + "\n", encoding="utf-8")

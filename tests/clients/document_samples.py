"""Answers to every operation, as the OpenAPI document shows them; what it does not show is made of its properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.openapi.document import list_operations

LEFT_OUT = {"streamRoutes", "streamRoutesForBody"}
"""Operations that the clients do not have: they answer with a stream."""


def list_samples(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return method, path and a sample answer of each operation that a client has, by its name."""
    schemas = document["components"]["schemas"]
    found = {}
    for path, method, operation in list_operations(document):
        if operation["operationId"] in LEFT_OUT:
            continue
        (media,) = operation["responses"]["200"]["content"].values()
        answer = make_sample(media["schema"], schemas)
        # A file is its example; of an object, the example may show less than there is.
        answer = media["example"] if isinstance(answer, str) else answer | media.get("example", {})
        found[operation["operationId"]] = {"method": method.upper(), "path": path, "answer": answer}
    return found


def make_sample(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """Return a value of a schema, from the examples of its properties."""
    if "$ref" in schema:
        return make_sample(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return make_sample(schema["anyOf"][0], schemas)
    if "example" in schema:
        return schema["example"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return None
    if kind == "array":
        return [make_sample(schema["items"], schemas)]
    if kind == "object":
        return {name: make_sample(each, schemas) for name, each in schema.get("properties", {}).items()}
    moment = "2026-03-01T12:00:00.000Z" if schema.get("format") == "date-time" else "text"
    return {"string": moment, "integer": 1, "number": 1.5, "boolean": True}[kind]

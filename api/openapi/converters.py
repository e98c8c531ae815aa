"""How fields and schemas become JSON Schema, where apispec would say less of them or something wrong."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from marshmallow import Schema, fields

KEPT = {"description", "default", "example", "examples", "deprecated"}
"""What stays of apispec's own description where a field brings its `shape` or its `words`."""
SUFFIXES = ("Schema", "Answer")


def name_schema(schema: type[Schema] | Schema) -> str:
    """Return the name under which clients get to know a schema."""
    name = (schema if isinstance(schema, type) else type(schema)).__name__
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def describe_shape(_: object, field: fields.Field[Any], ret: dict[str, Any]) -> dict[str, Any]:
    """Describe a field by its own `shape`, where it has one."""
    shape: Mapping[str, Any] | None = getattr(field, "shape", None)
    if shape is not None:
        _clear(ret)
        ret.update(shape)
    return {}


def describe_words(_: object, field: fields.Field[Any], ret: dict[str, Any]) -> dict[str, Any]:
    """Refer to the enumeration of a field's `words`, where it has any; `list_words` describes it."""
    words: type[StrEnum] | None = getattr(field, "words", None)
    if words is None:
        return {}
    _clear(ret)
    reference = {"$ref": f"#/components/schemas/{words.__name__}"}
    return {"anyOf": [reference, {"type": "null"}]} if field.allow_none else reference


def drop_null_default(_: object, field: fields.Field[Any], ret: dict[str, Any]) -> dict[str, Any]:
    """Say nothing of a default that only the code knows: null is not what may be sent."""
    if not field.allow_none and ret.get("default", ...) is None:
        del ret["default"]
    return {}


def list_words(schemas: list[type[Schema]]) -> dict[str, type[StrEnum]]:
    """Return the enumerations that fields of these schemas refer to, by name."""
    found: dict[str, type[StrEnum]] = {}
    for schema in schemas:
        for field in schema().fields.values():
            words = getattr(field.inner if isinstance(field, fields.List) else field, "words", None)
            if words is not None:
                found[words.__name__] = words
    return found


def describe_enum(words: type[StrEnum]) -> dict[str, Any]:
    """Describe an enumeration by its words and its docstring's first sentence."""
    return {"type": "string", "enum": [word.value for word in words], "description": read_summary(words)}


def read_summary(of: type) -> str:
    """Return the first paragraph of a docstring, as one line."""
    return " ".join((of.__doc__ or "").partition("\n\n")[0].split()).replace("``", "`")


def _clear(ret: dict[str, Any]) -> None:
    for name in ret.keys() - KEPT:
        del ret[name]

"""Objects in a query string, written as ``name[key]=value``: OpenAPI's style `deepObject`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import Schema, ValidationError, fields
from werkzeug.datastructures import MultiDict

from api.schemas.fields.plain import expected, refuse_unstorable

MOST_KEYS = 10
MOST_CHARACTERS = 500
_DEEP = re.compile(r"([^\[\]]+)\[(.+)\]", re.DOTALL)


class DeepObject(fields.Field[dict[str, str]]):
    """Keys and texts, such as ``metadata[cart]=7``: at most ten."""

    shape: ClassVar[Mapping[str, Any]] = {"type": "object", "additionalProperties": {"type": "string"}}
    style: ClassVar[Mapping[str, Any]] = {"style": "deepObject", "explode": True}

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any
    ) -> dict[str, str]:  # fmt: skip
        if not isinstance(value, dict):
            raise ValidationError(f"Expected {attr}[key]=value, with the name of a key in brackets")
        if len(value) > MOST_KEYS:
            raise ValidationError(f"Must have at most {MOST_KEYS} keys")
        if any("][" in key for key in value):
            raise ValidationError(f"What is nested is not found; name an entry itself, as {attr}[key]=value")
        for text in (part for pair in value.items() for part in pair):
            if not isinstance(text, str):
                raise expected("string", text)
            refuse_unstorable(text)
            if len(text) > MOST_CHARACTERS:
                raise ValidationError(f"Keys and values must have at most {MOST_CHARACTERS} characters")
        return value


def fold_deep_objects(args: MultiDict[str, Any], schema: Schema) -> MultiDict[str, Any]:
    """Return query parameters with ``name[key]`` gathered as ``name``, where the schema has such an object."""
    deep = {field.data_key or name for name, field in schema.load_fields.items() if isinstance(field, DeepObject)}
    folded: MultiDict[str, Any] = MultiDict()
    objects: dict[str, dict[str, str]] = {}
    for name, value in args.items(multi=True):
        found = _DEEP.fullmatch(name)
        if found is not None and found[1] in deep:
            objects.setdefault(found[1], {})[found[2]] = value
        else:
            folded.add(name, value)
    for name, value in objects.items():
        folded.add(name, value)
    return folded


def is_within_object(name: str, schema: Schema) -> bool:
    """Whether a parameter is one key of an object that the schema has."""
    found = _DEEP.fullmatch(name)
    return found is not None and isinstance(schema.load_fields.get(found[1]), DeepObject)

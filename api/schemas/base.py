"""Bases of the schemas of requests and answers, and how findings become the `error` list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, missing, validates_schema

from api.domain.env import EnvMode
from api.domain.errors import InvalidData, Problem

MOST_PROBLEMS = 100
"""Beyond these a caller learns no more, and a small request would get a huge answer."""


class BaseSchema(Schema):
    """A JSON object; a property that it does not know is refused: a misspelt one would be ignored, and costs money."""

    class Meta:
        """Options of marshmallow."""

        unknown = RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names = [field.data_key or name for name, field in self.load_fields.items()]
        self.error_messages["unknown"] = unknown_message(names)
        self._known = frozenset(names)

    def _deserialize(self, data: Any, *, error_store: Any, unknown: Any = RAISE, **how: Any) -> Any:
        """Read an object property by property; marshmallow makes a function for each, and three calls.

        What its own way is for is left to it: several objects at once, parts of an object, what is no JSON object.
        """
        is_one_of_many = how.get("many") or how.get("index") is not None
        if is_one_of_many or how.get("partial") is not None or unknown != RAISE or type(data) is not dict:
            return super()._deserialize(data, error_store=error_store, unknown=unknown, **how)
        made = {}
        for name, field in self.load_fields.items():
            key = field.data_key or name
            try:
                value = field.deserialize(data.get(key, missing), key, data)
            except ValidationError as error:
                error_store.store_error(error.messages, key)
                value = error.valid_data or missing  # what of an object within is right
            if value is not missing:
                made[field.attribute or name] = value
        for key in data.keys() - self._known:
            error_store.store_error([self.error_messages["unknown"]], key)
        return made


class AnswerSchema(Schema):
    """A JSON object that the service writes: each property is always there, except those that `sometimes` names.

    Later versions may add properties, so the OpenAPI document leaves it open.
    """

    sometimes: ClassVar[frozenset[str]] = frozenset()

    class Meta:
        """Options of marshmallow."""

        unknown = EXCLUDE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        """Write an object by its properties' names; marshmallow's own way to each is three calls."""
        if many or not isinstance(obj, dict):
            return super().dump(obj, many=many)
        made = {}
        for name, field in self.dump_fields.items():
            key = field.attribute or name
            if key in obj:
                value = field._serialize(obj[key], name, obj)
            else:  # it may be a property of a property
                value = field.serialize(name, obj, accessor=self.get_attribute)
            if value is not missing:
                made[field.data_key or name] = value
        return made

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        """Say of the field whether it is always there."""
        field_obj.required = field_name not in self.sometimes


class HttpsInLive(BaseSchema):
    """An object with URLs that may be plain http in the test environment only.

    `https_in_live` names the properties; ``items.url`` is the `url` of each object in the array `items`.
    """

    https_in_live: ClassVar[tuple[str, ...]] = ()

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def refuse_plain_http(self, data: Mapping[str, Any], original: Mapping[str, Any], **_: object) -> None:
        """Refuse plain http unless the environment is the test one."""
        if data.get("env_mode") != EnvMode.LIVE:
            return
        plain: dict[str | int, Any] = {}
        for name in self.https_in_live:
            plain |= _find_plain(original, name)
        if plain:
            raise ValidationError(plain)


def _find_plain(given: object, name: str) -> dict[str | int, Any]:
    """Return what marshmallow is told of a property with a URL over plain http; nothing where it has none."""
    first, _, rest = name.partition(".")
    value = given.get(first) if isinstance(given, Mapping) else None
    if not rest:
        is_plain = isinstance(value, str) and value.lower().startswith("http://")
        return {first: ["Plain http is for env_mode test only; use https"]} if is_plain else {}
    items = enumerate(value if isinstance(value, list) else ())
    found = {number: faults for number, item in items if (faults := _find_plain(item, rest))}
    return {first: found} if found else {}


def unknown_message(names: Sequence[str]) -> str:
    """Say that something has none of the names that are known."""
    return f"Unknown; the known ones are {', '.join(names)}" if names else "Unknown; nothing is known here"


def refuse_unknown(given: Iterable[str]) -> None:
    """Refuse each of these names, where none is known.

    Raises
    ------
    InvalidData
        If there is any.
    """
    problems = [Problem(path=name, message=unknown_message(())) for name in islice(given, MOST_PROBLEMS)]
    if problems:
        raise InvalidData(*problems)


def problems_of(messages: object) -> tuple[Problem, ...]:
    """Flatten marshmallow's nested messages: one problem for each offending property, dotted paths, at most a hundred.

    Parameters
    ----------
    messages : object
        `ValidationError.messages`: dictionaries by property or position, with lists of texts at the leaves.
    """
    leaves = islice(_leaves(messages, ()), MOST_PROBLEMS)
    return tuple(Problem(path=path, message=message) for path, message in leaves)


def _leaves(messages: object, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _leaves(inner, path if key == "_schema" else (*path, str(key)))
    elif isinstance(messages, list):
        yield ".".join(path), str(messages[0])
    else:
        yield ".".join(path), str(messages)

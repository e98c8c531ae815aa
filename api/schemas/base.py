"""Base of the request schemas, and how its findings become the `error` list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from marshmallow import EXCLUDE, Schema, ValidationError, validates_schema

from api.domain.env import EnvMode
from api.domain.errors import Problem


class BaseSchema(Schema):
    """A JSON object; properties it does not know are left out."""

    class Meta:
        """Options of marshmallow."""

        unknown = EXCLUDE


class HttpsInLive(BaseSchema):
    """An object with URLs that may be plain http in the test environment only.

    `https_in_live` names the properties.
    """

    https_in_live: ClassVar[tuple[str, ...]] = ()

    @validates_schema(skip_on_field_errors=False)
    def refuse_plain_http(self, data: Mapping[str, Any], **_: object) -> None:
        """Refuse plain http unless the environment is the test one."""
        if data.get("env_mode") != EnvMode.LIVE:
            return
        plain = [name for name in self.https_in_live if str(data.get(name, "")).lower().startswith("http://")]
        if plain:
            raise ValidationError({name: ["Plain http is for env_mode test only; use https"] for name in plain})


def problems_of(messages: object) -> tuple[Problem, ...]:
    """Flatten marshmallow's nested messages: one problem for each offending property, dotted paths.

    Parameters
    ----------
    messages : object
        `ValidationError.messages`: dictionaries by property or position, with lists of texts at the leaves.
    """
    return tuple(Problem(path=path, message=message) for path, message in _leaves(messages, ()))


def _leaves(messages: object, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _leaves(inner, path if key == "_schema" else (*path, str(key)))
    elif isinstance(messages, list):
        yield ".".join(path), str(messages[0])
    else:
        yield ".".join(path), str(messages)

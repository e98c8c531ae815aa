"""Where a page of a list begins, and ids in filters: what can't be one is named with whatever else is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError

from api.domain.events import parse_place
from api.domain.ids import IdPrefix
from api.schemas.fields.plain import TextField

MAX_CURSOR = 64


class IdField(TextField):
    """The id of something, by which a list is filtered; where there is no such thing, the list is empty.

    Parameters
    ----------
    prefix : IdPrefix
        What it is the id of.
    """

    def __init__(self, prefix: IdPrefix, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_CURSOR, **kwargs)
        self.start = f"{prefix}_"
        self.wanted = f"an id that begins with {self.start}"

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        if not text.startswith(self.start) or not text.isascii():
            raise ValidationError(f"Expected {self.wanted}")
        return text


class CursorField(IdField):
    """The `next_cursor` of a page before: the id of what that page ended with; `prefix` says what is listed."""

    def __init__(self, prefix: IdPrefix, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        described = {"description": "`next_cursor` of the page before", **(metadata or {})}
        super().__init__(prefix, metadata=described, **kwargs)
        self.wanted = "the next_cursor of an earlier page"


class PlaceField(TextField):
    """A place among the events: the id of one, or a moment; whether there is such an event, the service says."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_CURSOR, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        if parse_place(text) is None:
            raise ValidationError(
                "Expected the id of an event, or a moment with a time zone such as 2026-03-01T12:00:00Z"
            )
        return text

"""URLs of requests: http or https, and nothing in them that a log or a browser would stumble over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from marshmallow import ValidationError

from api.schemas.fields.plain import TextField

MAX_URL = 2048
_UNSAFE_IN_URL = re.compile(r"[\x00-\x20\x7f\\]|[\ud800-\udfff]")


class UrlField(TextField):
    """An http or https URL without credentials."""

    shape: ClassVar[Mapping[str, Any]] = {"type": "string", "format": "uri", "minLength": 1, "maxLength": MAX_URL}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_URL, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        if _UNSAFE_IN_URL.search(text):
            raise ValidationError("A URL must not contain spaces, control characters or backslashes")
        try:
            parts = urlsplit(text)
            host, _port = parts.hostname, parts.port
        except ValueError as error:
            raise ValidationError(f"Invalid URL: {error}") from None
        if parts.scheme not in {"http", "https"} or not host:
            raise ValidationError("Expected a URL that starts with https:// or http:// and names a host")
        if "@" in parts.netloc:
            raise ValidationError("A URL must not contain a user name or password")
        return text

"""What a vendor looks like to its customers, on the wire; `api.domain.brands` says what is allowed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields

from api.domain.brands import MAX_DISPLAY_NAME, MAX_SUPPORT
from api.domain.env import EnvMode
from api.domain.pictures import MAX_BYTES
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.plain import TextField, expected
from api.schemas.fields.texts import Moment, Text, Word

EXAMPLE = {"display_name": "Tea & Co", "accent_color": "#3346d3", "support": "help@tea.example"}
MAX_BASE64 = -(-MAX_BYTES // 3) * 4


class Base64Field(fields.Field[bytes]):
    """Bytes as base64 with padding, without line breaks; empty text is no bytes."""

    default_error_messages = {"null": "Expected string, received null"}  # noqa: RUF012 - marshmallow's type

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> bytes:
        if not isinstance(value, str):
            raise expected("string", value)
        if len(value) > MAX_BASE64:
            raise ValidationError(f"Must have at most {MAX_BYTES} bytes, which are {MAX_BASE64} characters of base64")
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise ValidationError("Expected base64 with padding and without line breaks") from None


class BrandChangeSchema(BaseSchema):
    """What is to change; what is not named stays, and empty text takes a choice back."""

    display_name = TextField(
        min_length=0, max_length=MAX_DISPLAY_NAME, metadata={"description": "The vendor's own name where it is empty"}
    )
    accent_color = TextField(
        min_length=0, max_length=7, metadata={"description": "`#` and six hexadecimal digits", "example": "#3346d3"}
    )
    support = TextField(
        min_length=0, max_length=MAX_SUPPORT, metadata={"description": "An e-mail address, or an https URL"}
    )
    logo = Base64Field(
        metadata={
            "type": "string",
            "format": "byte",
            "maxLength": MAX_BASE64,
            "description": f"PNG, JPEG or WebP of at most {MAX_BYTES} bytes, best square, at least 80 pixels wide",
        }
    )


class BrandAnswer(AnswerSchema):
    """What customers see of the vendor; empty is what it has not chosen."""

    env_mode = Word(EnvMode, "The environment that it is for")
    display_name = Text("The name on the page", example="Tea & Co")
    accent_color = Text("The colour of the page", example="#3346d3")
    support = Text("Where customers find help", example="help@tea.example")
    logo_url = Text("URL of the logo")
    updated_at = Moment("When it was last changed; null before that", allow_none=True)

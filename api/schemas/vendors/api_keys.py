"""What an API key may know of itself."""

from __future__ import annotations

from marshmallow import fields

from api.domain.env import EnvMode
from api.domain.scopes import Scope
from api.schemas.base import AnswerSchema
from api.schemas.fields.texts import Moment, Text, Word


class ApiKeySchema(AnswerSchema):
    """A key, without its text."""

    key_id = Text("Id of the key, by which the operator revokes it", example="key_01kjmma2g052bjrpfftkjdeg3m83h8121rfh")
    name = Text("What the operator made it for", example="bookkeeping")
    vendor_id = Text("Id of the vendor", example="ven_01kjmma2g052bjrpfftkjdeg3m83h8121rfh")
    vendor_name = Text("Name of the vendor", example="Tea & Co")
    env_mode = Word(EnvMode, "Environment in which it works")
    scopes = fields.List(Word(Scope, "A right"), metadata={"description": "What it may do"})
    last4 = Text("The last characters of its text", example="kC3w")
    created_at = Moment("When it was made")
    expires_at = Moment("When it stops working; null for never", allow_none=True)
    last_used_at = Moment("When it was used last, to the minute; this use may be in it already", allow_none=True)

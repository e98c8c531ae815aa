"""Wire format of the stream of routes."""

from __future__ import annotations

from enum import StrEnum

from marshmallow import fields

from api.schemas.base import AnswerSchema
from api.schemas.errors import ProblemSchema
from api.schemas.fields.texts import Text, Word
from api.schemas.routing.routes import RouteSchema, UnavailableSchema


class StreamMessageType(StrEnum):
    """What a message tells."""

    ROUTE = "route"
    DONE = "done"
    ERROR = "error"


class StreamMessageSchema(AnswerSchema):
    """One message of the stream of routes; `type` says which of the other properties it has."""

    sometimes = frozenset({"seq", "route", "best", "unavailable", "message", "code", "error"})

    type = Word(StreamMessageType, "What the message tells")
    seq = fields.Integer(
        metadata={
            "description": "Of a `route`: counts from 0; each is better than the one before, or firmer",
            "example": 0,
        }
    )
    route = fields.Nested(RouteSchema, metadata={"description": "Of a `route`"})
    best = Text("Of `done`: the id of the best route")
    unavailable = fields.List(
        fields.Nested(UnavailableSchema), metadata={"description": "Of `done`: sources that could not be asked"}
    )
    message = Text("Of an `error`, as in the error body")
    code = Text("Of an `error`, as in the error body", example="404")
    error = fields.List(fields.Nested(ProblemSchema), metadata={"description": "Of an `error`, as in the error body"})

"""Wire format of the stream of routes."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.schemas.routes import RouteSchema, UnavailableSchema


class StreamMessageSchema(Schema):
    """One message; `type` says which of the other properties it has."""

    type = fields.String(metadata={"enum": ["route", "done", "error"]})
    seq = fields.Integer(metadata={"description": "Of a `route`: counts from 0; each is better than the one before"})
    route = fields.Nested(RouteSchema)
    best = fields.String(metadata={"description": "Of `done`: the id of the best route"})
    unavailable = fields.List(
        fields.Nested(UnavailableSchema), metadata={"description": "Of `done`: sources that could not be asked"}
    )
    message = fields.String(metadata={"description": "Of an `error`, as in the error body"})
    code = fields.String(metadata={"description": "Of an `error`, as in the error body"})
    error = fields.List(fields.Raw(), metadata={"description": "Of an `error`, as in the error body"})

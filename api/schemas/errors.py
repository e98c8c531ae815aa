"""Wire format of the error body."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.base import AnswerSchema
from api.schemas.fields.texts import Text


class ProblemSchema(AnswerSchema):
    """One property of a request and what is wrong with it."""

    path = Text("Dotted path of the property or header; empty for the request as a whole", example="order_price.amount")
    message = Text("What is wrong with it, or how to put it right", example="Required")


class ErrorSchema(AnswerSchema):
    """Body of every answer of 400 and above."""

    message = Text("What went wrong", example="Invalid request data")
    code = Text("HTTP status", example="400")
    error = fields.List(
        fields.Nested(ProblemSchema), metadata={"description": "One entry for each offending property; may be empty"}
    )

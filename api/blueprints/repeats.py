"""The same answer to a request that is sent again with its `Idempotency-Key`: for every POST that needs an API key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import flask
from flask import Response
from marshmallow import EXCLUDE, ValidationError

from api.context import get_resources, replace_database, serve_with
from api.domain.errors import InvalidData
from api.schemas import BaseSchema, TextField, problems_of
from api.services.idempotency import (
    HEADER,
    AnsweredBefore,
    KeptAnswer,
    Repeatable,
    carry_out_at_once,
    claim_key,
    keep_answer,
    refuse_known,
)
from api.storage.one_transaction import OneTransaction
from api.web.security import get_caller_key

REPLAYED = "Idempotent-Replayed"
"""Header of an answer that was given before; Stripe's clients know it by this name."""


class RepeatHeaders(BaseSchema):
    """Header of a request that may be sent again; a request has many others."""

    class Meta:
        """Options of marshmallow."""

        unknown = EXCLUDE

    key = TextField(
        data_key=HEADER,
        max_length=255,
        metadata={
            "description": "Sent again within 24 hours with the same key, the same request is not carried out again "
            "and gets the first answer, with the header `Idempotent-Replayed: true`. Any text that is new for each "
            "thing you want done, such as a UUID."
        },
    )


def answer_once(view: Callable[..., Any]) -> Callable[..., Any]:
    """Carry a request out once for each `Idempotency-Key`, and answer its repetitions alike.

    A refused request changes nothing, and its key stays free.
    """

    @wraps(view)
    def repeatable(*args: Any, **kwargs: Any) -> Any:
        request = _read_request()
        if request is None:
            return view(*args, **kwargs)
        try:
            return _carry_out(request, partial(view, *args, **kwargs))
        except AnsweredBefore as before:
            get_resources().database.wait_for_disk()  # whoever made the answer may still be waiting for that
            response = Response(before.answer.body, before.answer.status, mimetype="application/json")
            response.headers[REPLAYED] = "true"
            return response

    return repeatable


def _read_request() -> Repeatable | None:
    caller, header = get_caller_key(), flask.request.headers.get(HEADER)
    if header is None:
        return None
    try:
        read: Mapping[str, str] = RepeatHeaders().load({HEADER: header})
    except ValidationError as error:
        raise InvalidData(*problems_of(error.messages)) from None
    return Repeatable(
        vendor_id=caller.vendor_id,
        env_mode=caller.env_mode,
        key=read["key"],
        address=flask.request.full_path,
        body=flask.request.get_data(cache=True),
    )


def _carry_out(request: Repeatable, act: Callable[[], Any]) -> Response:
    shared = get_resources()
    box, now = shared.box, shared.clock.now()
    with shared.database.look() as connection:
        refuse_known(connection, request, box=box, now=now)
    begin = partial(claim_key, request=request, box=box, now=now)
    with OneTransaction(shared.database, begin) as database, serve_with(replace_database(shared, database)):
        response = flask.make_response(act())
        answer = KeptAnswer(status=response.status_code, body=response.get_data(as_text=True))
        whole = partial(carry_out_at_once, request=request, answer=answer, box=box, now=now)
        database.finish(whole, partial(keep_answer, request=request, answer=answer, box=box))
        return response

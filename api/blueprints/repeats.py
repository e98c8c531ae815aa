"""The same answer to a request that is sent again with its `Idempotency-Key`, for every POST with an API key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import partial, wraps
from typing import Any

import flask
from flask import Response
from marshmallow import EXCLUDE, ValidationError

from api.bodies.event_stream import is_done
from api.context import get_resources, replace_database, serve_with
from api.domain.errors import InvalidData, Unprocessable
from api.domain.turns import end_after
from api.schemas import BaseSchema, TextField, problems_of
from api.services.idempotency import (
    HEADER,
    AnsweredBefore,
    KeptAnswer,
    Repeatable,
    carry_out_at_once,
    claim_key,
    keep_answer,
    make_conflict,
    refuse_known,
    seal_answer,
)
from api.services.resources import Resources
from api.storage.one_transaction import OneTransaction
from api.web.security import find_owner

JSON = "application/json"
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
            "thing you want done, such as a UUID. It belongs to the API key's vendor; without an API key it is ignored."
        },
    )


def answer_once(view: Callable[..., Any], *, is_search: bool) -> Callable[..., Any]:
    """Carry a request out once for each `Idempotency-Key`, and answer its repetitions alike.

    A refused request changes nothing, and its key stays free.

    Parameters
    ----------
    is_search : bool
        Whether the view changes nothing; it takes callers without a key too, of whom nothing is kept.
    """
    carry_out = _search if is_search else _carry_out

    @wraps(view)
    def repeatable(*args: Any, **kwargs: Any) -> Any:
        request = _read_request()
        if request is None:
            return view(*args, **kwargs)
        try:
            return carry_out(request, partial(view, *args, **kwargs))
        except AnsweredBefore as before:
            get_resources().database.wait_for_disk()  # whoever made the answer may still be waiting for that
            answer = before.answer
            response = Response(answer.body, answer.status, mimetype=answer.mimetype or JSON)
            response.headers[REPLAYED] = "true"
            return response

    return repeatable


def _read_request() -> Repeatable | None:
    owner, header = find_owner(), flask.request.headers.get(HEADER)
    if header is None or owner is None:
        return None
    try:
        read: Mapping[str, str] = RepeatHeaders().load({HEADER: header})
    except ValidationError as error:
        raise InvalidData(*problems_of(error.messages)) from None
    return Repeatable(
        vendor_id=owner[0],
        env_mode=owner[1],
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
        sealed = seal_answer(request, answer, box)
        whole = partial(carry_out_at_once, request=request, sealed=sealed, box=box, now=now)
        database.finish(whole, partial(keep_answer, request=request, sealed=sealed))
        return response


def _search(request: Repeatable, act: Callable[[], Any]) -> Response:
    """Search once at a time for a key; no transaction is open meanwhile, since a search may take seconds."""
    shared = get_resources()
    now = shared.clock.now()
    with shared.database.look() as connection:
        refuse_known(connection, request, box=shared.box, now=now)
    end = shared.repeatable_searches.take(tuple(request.identity.values()))
    if end is None:
        raise make_conflict()
    with ExitStack() as ending:
        ending.callback(end)
        response = flask.make_response(act())
        keep = partial(_keep_search, shared, request, response.status_code, response.mimetype or JSON, now)
        if response.is_streamed:
            response.response = end_after(_keep_stream(response.iter_encoded(), keep), end)
            response.call_on_close(ending.pop_all().close)
        else:
            keep(response.get_data(as_text=True))
        return response


def _keep_search(shared: Resources, request: Repeatable, status: int, mimetype: str, now: datetime, body: str) -> None:
    """Keep the answer to a search; where another process has kept one meanwhile, this raises as `carry_out_at_once`."""
    answer = KeptAnswer(status=status, body=body, mimetype=mimetype)
    sealed = seal_answer(request, answer, shared.box)
    shared.database.write_at_once(
        partial(carry_out_at_once, rows=(), request=request, sealed=sealed, box=shared.box, now=now)
    )


def _keep_stream(events: Iterable[bytes], keep: Callable[[str], None]) -> Iterator[bytes]:
    """Send events as they come, and keep them all before the last one; a stream that ends in an error is not kept."""
    told = []
    for event in events:
        told.append(event)
        if is_done(event.decode()):
            with suppress(AnsweredBefore, Unprocessable):  # this caller has been told other routes already
                keep(b"".join(told).decode())
        yield event

"""One answer to a request that is sent again.

The answer is written in the same transaction as what the request does. So there is nothing to clean up after a crash:
either both are there or neither is, and a second request with the same key waits for the first one's transaction.
Every stored answer is encrypted, since some hold a secret, and no caller is to think of that.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.sql.dml import ReturningInsert

from api.bodies.request_body import parse_object
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData, Problem, Unprocessable
from api.secrets.box import SecretBox
from api.storage.rows import NewRow, insert_rows_after
from api.storage.statements import Place, Statement, find_direct
from api.storage.tables import IdempotencyKey

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
RETRY_S = 1
LOCK_NOT_AVAILABLE = "55P03"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    """A request that may come again.

    Parameters
    ----------
    vendor_id, env_mode : str and EnvMode
        Whose; vendors know nothing of each other's keys.
    key : str
        Value of the header.
    address : str
        Path and query: a key is for one request, so at another address it is refused.
    body : bytes
        As it was sent; two bodies that mean the same JSON count as the same.
    """

    vendor_id: str
    env_mode: EnvMode
    key: str
    address: str
    body: bytes

    @property
    def identity(self) -> dict[str, str]:
        """Primary key of the row."""
        return {"vendor_id": self.vendor_id, "env_mode": self.env_mode, "key": self.key}

    @property
    def where(self) -> dict[str, str]:
        """Parameters of statements about the row."""
        return {f"this_{name}": value for name, value in self.identity.items()}

    @property
    def request_hash(self) -> str:
        """Digest of the address and of what the body means."""
        try:
            meant = json.dumps(parse_object(self.body), sort_keys=True, separators=(",", ":")).encode()
        except InvalidData:  # it can't have been carried out, so it is another request than any that was
            meant = b"malformed " + self.body
        return hashlib.sha256(self.address.encode() + b"\n" + meant).hexdigest()

    @property
    def purpose(self) -> str:
        """Whose the stored answer is, for `SecretBox`."""
        return answer_purpose(self.vendor_id, self.env_mode, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What a request was answered.

    Parameters
    ----------
    status : int
        Of HTTP.
    body : str
        As it was sent.
    mimetype : str
        Of the answer to a search, which is stored compressed, as it is long; empty for others, which are JSON.
    """

    status: int
    body: str
    mimetype: str = ""


class AnsweredBefore(Exception):
    """The request has been carried out, and is not carried out again.

    Parameters
    ----------
    answer : KeptAnswer
        To the first of its kind.
    """

    def __init__(self, answer: KeptAnswer) -> None:
        super().__init__("the request was answered before")
        self.answer = answer


def refuse_known(place: Place, request: Repeatable, *, box: SecretBox, now: datetime) -> None:
    """Let a request pass whose key is new.

    Raises
    ------
    AnsweredBefore
        If it was carried out before.
    Unprocessable
        If its key came with another request.
    """
    for stored in _STORED.fetch(place, request.where):
        if stored.expires_at > now:
            raise AnsweredBefore(_open_answer(stored, request, box))


def claim_key(place: Place, request: Repeatable, *, box: SecretBox, now: datetime) -> None:
    """Take the key in the transaction that carries the request out; `keep_answer` has to follow in it.

    Raises as `carry_out_at_once` does.
    """
    _claim(place, request, "", (), box, now)


def carry_out_at_once(
    place: Place, rows: Sequence[NewRow], *, request: Repeatable, sealed: str, box: SecretBox, now: datetime
) -> None:
    """Take the key, keep the answer under it, and write the rows that carry the request out: all as one statement.

    The answer comes from `seal_answer`: who writes holds up who waits to, and encrypts nothing meanwhile.

    Raises
    ------
    AnsweredBefore
        If the request was carried out meanwhile.
    Unprocessable
        If the key came with another request.
    Conflict
        If the request with this key is still being carried out.
    """
    _claim(place, request, sealed, rows, box, now)


def _claim(
    place: Place, request: Repeatable, sealed: str, rows: Sequence[NewRow], box: SecretBox, now: datetime
) -> None:
    values = {
        **request.identity,
        "body_hash": request.request_hash,
        "response_body": sealed,
        "created_at": now,
        "expires_at": now + KEPT,
    }
    claim = _prepare_claim(find_direct(place).dialect.name)
    try:
        # The row that was in the way may have expired since, and be deleted before it is read: then once more.
        while not insert_rows_after(place, claim, values, rows):
            for stored in _STORED.fetch(place, request.where):
                raise AnsweredBefore(_open_answer(stored, request, box))
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
            raise
        raise make_conflict() from error


def make_conflict() -> Conflict:
    """Make the refusal of a request whose like is being carried out."""
    problem = Problem(path=HEADER, message="Send the request again in a moment")
    message = "A request with this idempotency key is still being carried out"
    return Conflict(message, problem, retry_after_s=RETRY_S)


def keep_answer(place: Place, *, request: Repeatable, sealed: str) -> None:
    """Store the answer of `seal_answer` under the key that was claimed."""
    _KEEP.run(place, {**request.where, "sealed": sealed})


def seal_answer(request: Repeatable, answer: KeptAnswer, box: SecretBox) -> str:
    """Encrypt an answer for keeping it."""
    parts = [answer.status, answer.body]
    if answer.mimetype:
        parts = [answer.status, b64encode(zlib.compress(answer.body.encode())).decode(), answer.mimetype]
    return box.seal(json.dumps(parts), request.purpose)


def answer_purpose(vendor_id: str, env_mode: str, key: str) -> str:
    """Say to whose request a stored answer belongs, for `SecretBox`."""
    return f"answer to {vendor_id} {env_mode} {key}"


def _open_answer(stored: Any, request: Repeatable, box: SecretBox) -> KeptAnswer:
    if stored.body_hash != request.request_hash:
        problem = Problem(path=HEADER, message="Use a new key for a new request")
        raise Unprocessable("This idempotency key was used with another body or at another address", problem)
    status, body, *kind = json.loads(box.open(stored.response_body, request.purpose))
    if kind:
        return KeptAnswer(status=status, body=zlib.decompress(b64decode(body)).decode(), mimetype=kind[0])
    return KeptAnswer(status=status, body=body)


_ANSWERS = cast(Table, IdempotencyKey.__table__)
_IDENTITY = tuple(each.key for each in _ANSWERS.primary_key)
_IS_THIS = tuple(each == bindparam(f"this_{each.key}") for each in _ANSWERS.primary_key)
_STORED = Statement(select(_ANSWERS.c.body_hash, _ANSWERS.c.response_body, _ANSWERS.c.expires_at).where(*_IS_THIS))
_KEEP = Statement(update(_ANSWERS).where(*_IS_THIS).values(response_body=bindparam("sealed")))


@lru_cache(maxsize=2)
def _prepare_claim(dialect: str) -> ReturningInsert[Any]:
    """Insert a row, waiting for whoever inserts the same one; what has expired counts as absent."""
    kept = ("body_hash", "response_body", "created_at", "expires_at")
    values = {name: bindparam(name, type_=_ANSWERS.c[name].type) for name in (*_IDENTITY, *kept)}
    new = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(_ANSWERS).values(values)
    fresh = {name: new.excluded[name] for name in kept}
    has_expired = _ANSWERS.c.expires_at <= new.excluded.created_at
    claim = new.on_conflict_do_update(index_elements=_IDENTITY, set_=fresh, where=has_expired)
    return claim.returning(_ANSWERS.c.key)

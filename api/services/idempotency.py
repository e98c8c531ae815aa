"""One answer to a request that is sent again.

The answer is written in the same transaction as what the request does. So there is nothing to clean up after a crash:
either both are there or neither is, and a second request with the same key waits for the first one's transaction.
Every stored answer is encrypted, since some hold a secret, and no caller is to think of that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import Conflict, Problem, Unprocessable
from api.request_body import parse_object
from api.secrets.box import SecretBox
from api.storage.db import insert_new
from api.storage.tables import IdempotencyKey

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
WAIT_MS = 2_000
RETRY_S = 1
LOCK_NOT_AVAILABLE = "55P03"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    """A request that may come again.

    Parameters
    ----------
    key : str
        Value of the header.
    body : bytes
        As it was sent; two bodies that mean the same JSON count as the same.
    """

    key: str
    body: bytes

    @property
    def body_hash(self) -> str:
        """Digest of what the body means."""
        canonical = json.dumps(parse_object(self.body), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def find_first_answer(
    session: Session,
    request: Repeatable,
    *,
    box: SecretBox,
    vendor_id: str,
    env_mode: EnvMode,
    answer: Mapping[str, Any],
    now: datetime,
) -> Mapping[str, Any] | None:
    """Keep `answer` as the one to this request, or return the one that was given before.

    Parameters
    ----------
    session : Session
        Of the transaction that carries the request out.
    box : SecretBox
        Encrypts the stored answer.

    Returns
    -------
    mapping or None
        The earlier answer; None when this is the first request, which is to be carried out now.

    Raises
    ------
    Unprocessable
        If the earlier request had another body.
    Conflict
        If the earlier request is still being carried out.
    """
    purpose = answer_purpose(vendor_id, env_mode, request.key)
    identity = {"vendor_id": vendor_id, "env_mode": env_mode, "key": request.key}
    session.execute(delete(IdempotencyKey).filter_by(**identity).where(IdempotencyKey.expires_at <= now))
    values = {
        **identity,
        "body_hash": request.body_hash,
        "response_body": box.seal(json.dumps(answer), purpose),
        "created_at": now,
        "expires_at": now + KEPT,
    }
    if _insert(session, values):
        return None
    stored = session.get_one(IdempotencyKey, (vendor_id, env_mode, request.key))
    if stored.body_hash != values["body_hash"]:
        problem = Problem(path=HEADER, message="Use a new key for a new request")
        raise Unprocessable("This idempotency key was used with another body", problem)
    found: Mapping[str, Any] = json.loads(box.open(stored.response_body, purpose))
    return found


def answer_purpose(vendor_id: str, env_mode: str, key: str) -> str:
    """Say to whose request a stored answer belongs, for `SecretBox`."""
    return f"answer to {vendor_id} {env_mode} {key}"


def _insert(session: Session, values: Mapping[str, Any]) -> bool:
    """Insert the row, waiting for whoever is inserting the same one."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SET LOCAL lock_timeout = {WAIT_MS}"))
    try:
        return insert_new(session, IdempotencyKey, values)
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
            raise
        problem = Problem(path=HEADER, message="Send the request again in a moment")
        message = "A request with this idempotency key is still being carried out"
        raise Conflict(message, problem, retry_after_s=RETRY_S) from error

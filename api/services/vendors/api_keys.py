"""Who is calling: API keys, of which only a hash is kept."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, ColumnElement, bindparam, or_, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Forbidden, Problem
from api.domain.scopes import Scope, parse_scopes, write_scopes
from api.storage.statements import Place, Statement
from api.storage.tables import ApiKeyRow, Vendor
from api.storage.types import UtcDateTime

KEY_HEADER = "X-Api-Key"

_KEY = re.compile(r"sk_(?:test|live)_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """Who is calling, proven by the key in the request, and what the key may do."""

    key_id: str
    vendor_id: str
    vendor_name: str
    env_mode: EnvMode
    scopes: frozenset[Scope]

    def require_env(self, env_mode: EnvMode) -> None:
        """Refuse to act in the other environment.

        Raises
        ------
        Forbidden
            If `env_mode` is not the key's.
        """
        if env_mode != self.env_mode:
            problem = Problem(
                path="env_mode", message=f"This is a {self.env_mode} key; use the vendor's {env_mode} key"
            )
            raise Forbidden("The API key belongs to the other environment", problem)

    def require_scope(self, scope: Scope) -> None:
        """Refuse to do what the key has no right to.

        Raises
        ------
        Forbidden
            If the key lacks the scope; the problem names the remedy.
        """
        if scope not in self.scopes:
            message = (
                f"Needs the scope {scope}; this key has {write_scopes(self.scopes) or 'none'}. Use another key of the "
                f"vendor, or have the operator make one: "
                f"`checkout keys create VENDOR --env {self.env_mode} --scope {scope} --name NAME`"
            )
            raise Forbidden(f"The API key lacks the scope {scope}", Problem(path=KEY_HEADER, message=message))


def hash_key(text: str) -> str:
    """Hash a key for storing and looking up; 256 random bits need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def find_key(place: Place, text: str, now: datetime) -> ApiKey | None:
    """Return whose key this is, or None if it is unknown, revoked or expired.

    Asked for each request anew, so that a revoked key stops at once in every process.
    """
    if not _KEY.fullmatch(text):
        return None
    rows = _LIVE.fetch(place, {"key_hash": hash_key(text), "now": now})
    if not rows:
        return None
    row = rows[0]
    return ApiKey(
        key_id=row[0], vendor_id=row[1], vendor_name=row[2], env_mode=EnvMode(row[3]), scopes=parse_scopes(row[4])
    )


def explain_refusal(session: Session, text: str, now: datetime) -> str:
    """Say why `find_key` found nothing: whoever has a whole key may know that it has ended."""
    ended = None
    if _KEY.fullmatch(text):
        query = select(ApiKeyRow.expires_at).where(
            ApiKeyRow.key_hash == hash_key(text), ApiKeyRow.revoked_at.is_(None), ApiKeyRow.expires_at <= now
        )
        ended = session.scalar(query)
    if ended is None:
        return "Unknown or revoked key"
    return f"This key expired at {format_time(ended)}; the operator makes the next one with `checkout keys rotate`"


def select_live(now: datetime | BindParameter[datetime]) -> tuple[ColumnElement[bool], ...]:
    """Select the keys that work."""
    return ApiKeyRow.revoked_at.is_(None), or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > now)


_LIVE = Statement(
    select(ApiKeyRow.id, ApiKeyRow.vendor_id, Vendor.name, ApiKeyRow.env_mode, ApiKeyRow.scopes)
    .select_from(ApiKeyRow.__table__.join(Vendor.__table__))
    .where(ApiKeyRow.key_hash == bindparam("key_hash"), *select_live(bindparam("now", type_=UtcDateTime())))
)

"""API keys: made once, shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import Forbidden, Problem
from api.domain.ids import IdPrefix, make_id
from api.storage.tables import ApiKeyRow, Vendor

KEY_BYTES = 32
KEPT_ON_ROTATION = 1
"""How many older keys still work after a rotation, so that a vendor can change over without an interruption."""

_KEY = re.compile(r"sk_(?:test|live)_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """Who is calling, proven by the key in the request."""

    key_id: str
    vendor_id: str
    vendor_name: str
    env_mode: EnvMode

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


def hash_key(text: str) -> str:
    """Hash a key for storing and looking up; 256 random bits need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def create_key(session: Session, vendor_id: str, env_mode: EnvMode, at: datetime) -> str:
    """Make a key and return its text, which is not kept."""
    text = f"sk_{env_mode}_{secrets.token_urlsafe(KEY_BYTES)}"
    session.add(
        ApiKeyRow(
            id=make_id(IdPrefix.API_KEY, at),
            vendor_id=vendor_id,
            env_mode=env_mode,
            key_hash=hash_key(text),
            last4=text[-4:],
            created_at=at,
        )
    )
    return text


def rotate_key(session: Session, vendor_id: str, env_mode: EnvMode, at: datetime, *, revoke_all: bool = False) -> str:
    """Make a new key; all but the newest of the earlier ones stop working.

    Parameters
    ----------
    revoke_all : bool
        Stop that one too: for a key that leaked.
    """
    alive = (
        select(ApiKeyRow)
        .where(ApiKeyRow.vendor_id == vendor_id, ApiKeyRow.env_mode == env_mode, ApiKeyRow.revoked_at.is_(None))
        .order_by(ApiKeyRow.id.desc())
    )
    for row in session.scalars(alive).all()[0 if revoke_all else KEPT_ON_ROTATION :]:
        row.revoked_at = at
    return create_key(session, vendor_id, env_mode, at)


def find_key(session: Session, text: str) -> ApiKey | None:
    """Return whose key this is, or None if it is unknown or revoked."""
    if not _KEY.fullmatch(text):
        return None
    row = session.execute(
        select(ApiKeyRow.id, ApiKeyRow.vendor_id, Vendor.name, ApiKeyRow.env_mode)
        .join(Vendor, Vendor.id == ApiKeyRow.vendor_id)
        .where(ApiKeyRow.key_hash == hash_key(text), ApiKeyRow.revoked_at.is_(None))
    ).first()
    if row is None:
        return None
    return ApiKey(key_id=row[0], vendor_id=row[1], vendor_name=row[2], env_mode=EnvMode(row[3]))

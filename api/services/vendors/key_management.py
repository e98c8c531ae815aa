"""API keys as the operator keeps them: each has a name, scopes, and perhaps an end.

A name stands for one use, such as a shop or its bookkeeping. It has one live key, and two while it is rotated.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction, Change
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData, NotFound
from api.domain.ids import IdPrefix, make_id
from api.domain.scopes import ALL_SCOPES, Scope, write_scopes
from api.services.audit import record_change
from api.services.vendors.api_keys import ApiKey, hash_key, select_live
from api.storage.tables import ApiKeyRow, Vendor

KEY_BYTES = 32
FIRST_NAME = "default"
"""Of the keys that a vendor is made with."""
KEPT_ON_ROTATION = 1
"""How many older keys of the name still work after a rotation, so that a vendor can change over in peace."""
MAX_NAMES = 20
"""Of live keys, for one vendor in one environment."""
MAX_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKey:
    """A key just made; its text is shown this once."""

    row: ApiKeyRow
    text: str = field(repr=False)


def create_key(
    session: Session,
    owner: tuple[str, EnvMode],
    at: datetime,
    *,
    name: str = FIRST_NAME,
    scopes: frozenset[Scope] = ALL_SCOPES,
    lifetime: timedelta | None = None,
) -> IssuedKey:
    """Make a key for a use that has none.

    Parameters
    ----------
    owner : tuple of str and EnvMode
        The vendor's id, and the environment in which the key works.
    name : str
        What it is for.
    lifetime : timedelta, optional
        After which it stops working.

    Raises
    ------
    InvalidData
        If the name, the scopes or the lifetime can't be.
    Conflict
        If a live key has the name, or there are too many names.
    """
    _check(name, scopes, lifetime)
    lock_vendor(session, owner[0])
    names = list_live_names(session, owner, at)
    if name in names:
        remedy = "`checkout keys rotate` makes the next one, `checkout keys revoke` ends it; or choose another name"
        raise Conflict(f"There is a live key named {name!r} already; {remedy}")
    if len(names) >= MAX_NAMES:
        raise Conflict(f"There are live keys of {len(names)} names in {owner[1]} mode; revoke one first")
    made = _add_key(session, owner, at, name=name, scopes=write_scopes(scopes), lifetime=lifetime)
    record_change(session, _describe_change(AuditAction.KEY_CREATED, made.row, after=_describe(made.row)), at)
    return made


def rotate_key(
    session: Session, owner: tuple[str, EnvMode], at: datetime, *, name: str = FIRST_NAME, revoke_all: bool = False
) -> IssuedKey:
    """Make the next key of a name, with the scopes and the lifetime of its newest.

    All but the newest of the earlier ones stop working.

    Parameters
    ----------
    revoke_all : bool
        Stop that one too: for a key that leaked.

    Raises
    ------
    NotFound
        If the name has never had a key.
    """
    lock_vendor(session, owner[0])
    named = select(ApiKeyRow).where(*_select_owned(owner), ApiKeyRow.name == name)
    newest = session.scalars(named.order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id.desc())).first()
    if newest is None:
        raise NotFound(f"There is no key named {name!r} in {owner[1]} mode; `checkout keys list` shows them")
    live = named.where(*select_live(at)).order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id.desc())
    working = session.scalars(live).all()
    ended = working[0 if revoke_all else KEPT_ON_ROTATION :]
    for row in ended:
        row.revoked_at = at
    lifetime = newest.expires_at - newest.created_at if newest.expires_at is not None else None
    made = _add_key(session, owner, at, name=name, scopes=newest.scopes, lifetime=lifetime)
    after = {**_describe(made.row), "revoked": [row.id for row in ended]}
    before = {"live": [row.id for row in working]}
    record_change(session, _describe_change(AuditAction.KEY_ROTATED, made.row, before=before, after=after), at)
    return made


def list_live_names(session: Session, owner: tuple[str, EnvMode], at: datetime) -> set[str]:
    """Return the names whose keys work."""
    return set(session.scalars(select(ApiKeyRow.name).where(*_select_owned(owner), *select_live(at))))


def list_keys(session: Session, vendor_id: str, env_mode: EnvMode | None = None) -> Sequence[ApiKeyRow]:
    """Return a vendor's keys, live or not, oldest first."""
    query = select(ApiKeyRow).where(ApiKeyRow.vendor_id == vendor_id)
    if env_mode is not None:
        query = query.where(ApiKeyRow.env_mode == env_mode)
    return session.scalars(query.order_by(ApiKeyRow.created_at, ApiKeyRow.id)).all()


def revoke_key(session: Session, vendor_id: str, key_id: str, at: datetime) -> ApiKeyRow:
    """Stop a key, from the next request on, in every process; one that was stopped before stays as it is.

    Raises
    ------
    NotFound
        If the vendor has no such key.
    """
    row = find_row(session, vendor_id, key_id)
    if row.revoked_at is None:
        row.revoked_at = at
        record_change(session, _describe_change(AuditAction.KEY_REVOKED, row, before=_describe(row)), at)
    return row


def find_row(session: Session, vendor_id: str, key_id: str) -> ApiKeyRow:
    """Return what is stored of a key.

    Raises
    ------
    NotFound
        If the vendor has no such key.
    """
    row = session.scalar(select(ApiKeyRow).where(ApiKeyRow.id == key_id, ApiKeyRow.vendor_id == vendor_id))
    if row is None:
        raise NotFound(f"The vendor has no key {key_id!r}; `checkout keys list` shows the ids")
    return row


def describe_key(session: Session, key: ApiKey) -> dict[str, Any]:
    """Return what the bearer of a key may know of it."""
    row = find_row(session, key.vendor_id, key.key_id)
    return {
        "key_id": row.id,
        "name": row.name,
        "vendor_id": key.vendor_id,
        "vendor_name": key.vendor_name,
        "env_mode": key.env_mode,
        "scopes": write_scopes(key.scopes).split(),
        "last4": row.last4,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
    }


def find_state(row: ApiKeyRow, now: datetime) -> str:
    """Say whether a key is ``live``, ``revoked`` or ``expired``."""
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at is not None and row.expires_at <= now else "live"


def _check(name: str, scopes: frozenset[Scope], lifetime: timedelta | None) -> None:
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidData.at("name", f"Must be 1 to {MAX_NAME} printable characters")
    if not scopes:
        raise InvalidData.at("scopes", f"Give at least one of {', '.join(Scope)}")
    if lifetime is not None and lifetime <= timedelta():
        raise InvalidData.at("lifetime", "Must be longer than nothing")


def _describe_change(action: AuditAction, row: ApiKeyRow, **states: Mapping[str, Any]) -> Change:
    return Change(action=action, subject=row.id, vendor_id=row.vendor_id, env_mode=row.env_mode, **states)


def _describe(row: ApiKeyRow) -> dict[str, Any]:
    ends = None if row.expires_at is None else format_time(row.expires_at)
    return {"name": row.name, "scopes": row.scopes, "last4": row.last4, "expires_at": ends}


def lock_vendor(session: Session, vendor_id: str) -> None:
    """Let nobody else make keys or webhooks of this vendor meanwhile; orders are made on."""
    session.execute(select(Vendor.id).where(Vendor.id == vendor_id).with_for_update(key_share=True))


def _add_key(
    session: Session, owner: tuple[str, EnvMode], at: datetime, *, name: str, scopes: str, lifetime: timedelta | None
) -> IssuedKey:
    vendor_id, env_mode = owner
    text = f"sk_{env_mode}_{secrets.token_urlsafe(KEY_BYTES)}"
    row = ApiKeyRow(
        id=make_id(IdPrefix.API_KEY, at),
        vendor_id=vendor_id,
        env_mode=env_mode,
        name=name,
        scopes=scopes,
        key_hash=hash_key(text),
        last4=text[-4:],
        created_at=at,
        expires_at=None if lifetime is None else at + lifetime,
    )
    session.add(row)
    session.flush()
    return IssuedKey(row=row, text=text)


def _select_owned(owner: tuple[str, EnvMode]) -> tuple[ColumnElement[bool], ...]:
    return ApiKeyRow.vendor_id == owner[0], ApiKeyRow.env_mode == owner[1]

"""What customers see of a vendor: its name, colour, contact and logo, of each environment its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction, Change
from api.domain.brands import BadBrand, check_accent_color, check_display_name, check_support
from api.domain.env import EnvMode
from api.domain.errors import InvalidData, NotFound, Problem
from api.domain.pictures import BadPicture, identify_picture
from api.services.audit import record_change
from api.storage.db import insert_new
from api.storage.tables import VendorBrand

SUFFIXES: Mapping[str, str] = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}
CHECKS: Mapping[str, Callable[[str], str]] = {
    "display_name": check_display_name,
    "accent_color": check_accent_color,
    "support": check_support,
}
_LOGO = ("logo", "logo_type", "logo_digest")
_EMPTY = dict.fromkeys((*CHECKS, "logo_type", "logo_digest"), "")
BRAND_COLUMNS = tuple(VendorBrand.__table__.c[name] for name in _EMPTY)
"""What `make_brand` needs of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """What a vendor has chosen; empty is what it has not.

    Parameters
    ----------
    accent_color : str
        As ``#rrggbb``.
    support : str
        An e-mail address or an https URL.
    logo_file : str
        The logo's digest and ending, under which it is served.
    """

    display_name: str = ""
    accent_color: str = ""
    support: str = ""
    logo_file: str = ""
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logo:
    """A picture as it is served."""

    media_type: str
    content: bytes


def read_brand(session: Session, vendor_id: str, env_mode: EnvMode) -> Brand:
    """Return what a vendor has chosen in an environment."""
    row = session.get(VendorBrand, (vendor_id, env_mode))
    return Brand() if row is None else make_brand(row, row.updated_at)


def make_brand(row: Any, updated_at: datetime | None = None) -> Brand:
    """Return what a row with `BRAND_COLUMNS` says; they are null where a vendor has chosen nothing yet."""
    if row.logo_digest is None:
        return Brand()
    return Brand(
        display_name=row.display_name,
        accent_color=row.accent_color,
        support=row.support,
        logo_file=f"{row.logo_digest}.{SUFFIXES[row.logo_type]}" if row.logo_digest else "",
        updated_at=updated_at,
    )


def change_brand(
    session: Session, vendor_id: str, env_mode: EnvMode, texts: Mapping[str, str], logo: bytes | None, at: datetime
) -> Brand:
    """Change some of what a vendor has chosen; the rest stays, and the same again changes nothing.

    Parameters
    ----------
    texts : mapping of str to str
        New values by the names in `CHECKS`; an empty one takes the choice back.
    logo : bytes or None
        The new logo; empty takes it away, None leaves it.

    Raises
    ------
    InvalidData
        Naming each that is wrong; then nothing is changed.
    """
    values = _check(texts, logo)
    key = {"vendor_id": vendor_id, "env_mode": env_mode}
    insert_new(session, VendorBrand, {**key, **_EMPTY, "updated_at": at})  # of two at once, neither fails
    row = session.get_one(VendorBrand, (vendor_id, env_mode), with_for_update=True)
    before = {name: getattr(row, name) for name in _EMPTY}
    is_same_logo = values.get("logo_digest") == row.logo_digest
    for name, value in values.items():
        if not (is_same_logo and name in _LOGO):
            setattr(row, name, value)
    if session.is_modified(row):
        row.updated_at = at
        changed = [name for name, value in before.items() if getattr(row, name) != value]
        change = Change(
            action=AuditAction.BRAND_CHANGED,
            subject=vendor_id,
            vendor_id=vendor_id,
            env_mode=env_mode,
            before={name: before[name] for name in changed},
            after={name: getattr(row, name) for name in changed},
        )
        record_change(session, change, at)
    session.flush()
    return make_brand(row, row.updated_at)


def find_logo(session: Session, name: str) -> Logo:
    """Return the logo with this file name.

    Raises
    ------
    NotFound
        If no vendor has it, or not any more.
    """
    digest, _, suffix = name.partition(".")
    query = select(VendorBrand.logo_type, VendorBrand.logo).where(VendorBrand.logo_digest == digest).limit(1)
    found = session.execute(query).first() if digest else None
    if found is None or found.logo is None or SUFFIXES[found.logo_type] != suffix:
        raise NotFound("There is no such logo")
    return Logo(media_type=found.logo_type, content=found.logo)


def _check(texts: Mapping[str, str], logo: bytes | None) -> dict[str, str | bytes | None]:
    values: dict[str, str | bytes | None] = {}
    problems = []
    for name, text in texts.items():
        try:
            values[name] = CHECKS[name](text)
        except BadBrand as error:
            problems.append(Problem(path=name, message=str(error)))
    try:
        values |= {} if logo is None else _check_logo(logo)
    except BadPicture as error:
        problems.append(Problem(path="logo", message=str(error)))
    if problems:
        raise InvalidData(*problems)
    return values


def _check_logo(logo: bytes) -> dict[str, str | bytes | None]:
    if not logo:
        return {"logo": None, "logo_type": "", "logo_digest": ""}
    return {"logo": logo, "logo_type": identify_picture(logo), "logo_digest": hashlib.sha256(logo).hexdigest()}

"""What is encrypted in the database: whether its keys are there, encrypting it anew, and starting over without them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import delete, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.config import Config
from api.domain.audit import AuditAction, Change
from api.secrets.box import KEY_ID_FROM, SecretBox, open_box
from api.secrets.keys import FILE_NAME, KEY_ID_LENGTH, KeyFile, SecretKeyFault, make_key, parse_keys
from api.services.audit import record_change
from api.services.idempotency import answer_purpose
from api.services.webhooks.secrets import add_secret, name_purpose
from api.storage.db import Database
from api.storage.private_files import hold_file_lock
from api.storage.tables import IdempotencyKey, WebhookSecret, WebhookSubscription

COLUMNS: tuple[InstrumentedAttribute[str], ...] = (WebhookSecret.ciphertext, IdempotencyKey.response_body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """How many secrets were encrypted anew, and with which key."""

    count: int
    key_id: str


def require_keys(session: Session, config: Config) -> None:
    """Make sure that there is a key, and that everything encrypted can be decrypted; the first start makes a key file.

    Raises
    ------
    SecretKeyFault
        If a key is missing, malformed or readable by others; it says what to do.
    """
    box = _open_box(config)
    missing = find_missing_keys(session, config)
    if missing:
        raise SecretKeyFault(
            f"The database holds secrets that are encrypted with the key {missing[0]}, which is neither in SECRET_KEYS "
            f"nor in {config.data_dir / FILE_NAME}. Put it back; processes on other machines need the same keys. If it "
            "is lost, `checkout secrets reset` gives every webhook a new secret, which its vendor then has to fetch "
            "with rotate_secret"
        )
    if not box.keyring.read():
        _make_key(box)


def find_missing_keys(session: Session, config: Config) -> tuple[str, ...]:
    """Return the ids of keys that something is encrypted with and that are not there; makes none.

    Raises
    ------
    SecretKeyFault
        If a key is malformed or readable by others.
    """
    used = _key_ids(session)
    keys = _open_box(config).keyring.read()  # afterwards: whoever rotates adds the key first, then uses it
    return tuple(sorted(used - {key.id for key in keys}))


def rotate_keys(database: Database, config: Config, at: datetime) -> Rotated:
    """Encrypt everything with the newest key: the first of SECRET_KEYS, or a new one in the key file.

    The key file keeps the key before, for what other processes are writing at this moment.
    """
    box, ring = _open_box(config), _open_box(config).keyring
    if not isinstance(ring, KeyFile):
        _require_keys_now(database, config)
        return _reseal(database, box, at)
    with hold_file_lock(_lock_of(ring.path)):
        _require_keys_now(database, config)
        before = ring.read()
        (made,) = parse_keys([make_key()], str(ring.path))
        ring.write((made, *before))
        rotated = _reseal(database, box, at)
        ring.write((made, before[0]))
    return rotated


def reset_secrets(database: Database, config: Config, at: datetime) -> int:
    """Give each webhook whose secret can't be decrypted a new one, and forget stored answers that can't be.

    Returns
    -------
    int
        How many webhooks have a new secret, which nobody was told.
    """
    box = _open_box(config)
    if not box.keyring.read():
        _make_key(box)
    known = {key.id for key in box.keyring.read()}
    with database.write() as session:
        lost = [row for row in session.scalars(select(WebhookSecret)) if _key_id(row.ciphertext) not in known]
        for row in lost:
            session.delete(row)
        lost_answer = func.substr(IdempotencyKey.response_body, KEY_ID_FROM, KEY_ID_LENGTH).not_in(known)
        session.execute(delete(IdempotencyKey).where(lost_answer))
        session.flush()
        has_secret = select(WebhookSecret.id).where(
            WebhookSecret.subscription_id == WebhookSubscription.id, WebhookSecret.expires_at.is_(None)
        )
        bare = session.scalars(
            select(WebhookSubscription.id).where(WebhookSubscription.deleted_at.is_(None), ~has_secret.exists())
        ).all()
        for subscription_id in bare:
            add_secret(session, box, subscription_id, at)
        done = Change(
            action=AuditAction.SECRETS_RESET,
            subject=box.keyring.read()[0].id,
            before={"lost": sorted({row.subscription_id for row in lost})},
            after={"new": list(bare)},
        )
        record_change(session, done, at)
    return len(bare)


def _require_keys_now(database: Database, config: Config) -> None:
    with database.read() as session:
        require_keys(session, config)


def _open_box(config: Config) -> SecretBox:
    return open_box(config.secret_keys, config.data_dir)


def _make_key(box: SecretBox) -> None:
    if isinstance(box.keyring, KeyFile):
        box.keyring.make()


def _reseal(database: Database, box: SecretBox, at: datetime) -> Rotated:
    newest, count = box.keyring.read()[0].id, 0
    with database.write() as session:
        for secret in session.scalars(select(WebhookSecret).with_for_update()):
            if _key_id(secret.ciphertext) != newest:
                secret.ciphertext = _renew(box, secret.ciphertext, name_purpose(secret.subscription_id))
                count += 1
        for stored in session.scalars(select(IdempotencyKey).with_for_update()):
            if _key_id(stored.response_body) != newest:
                purpose = answer_purpose(stored.vendor_id, stored.env_mode, stored.key)
                stored.response_body = _renew(box, stored.response_body, purpose)
                count += 1
        done = Change(action=AuditAction.SECRETS_ROTATED, subject=newest, after={"encrypted_anew": count})
        record_change(session, done, at)
    return Rotated(count=count, key_id=newest)


def _renew(box: SecretBox, ciphertext: str, purpose: str) -> str:
    return box.seal(box.open(ciphertext, purpose), purpose)


def _key_ids(session: Session) -> set[str]:
    return {
        key_id
        for column in COLUMNS
        for key_id in session.scalars(select(func.substr(column, KEY_ID_FROM, KEY_ID_LENGTH)).distinct())
    }


def _key_id(ciphertext: str) -> str:
    return ciphertext[KEY_ID_FROM - 1 :][:KEY_ID_LENGTH]


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")

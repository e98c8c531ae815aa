"""Whether the database answers, can be written, is of this version, and what it tells of the worker and of vendors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Row, and_, func, or_, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.secrets.keys import FILE_NAME, SecretKeyFault
from api.services.operations.backups import OLD, find_last_backup
from api.services.operations.doctor.findings import Finding, blame, praise, warn
from api.services.operations.duty_health import LAPSED, UNREAD, WorkerHealth, check_worker_health
from api.services.operations.overdue_payments import count_overdue
from api.services.operations.stored_secrets import find_missing_keys
from api.services.operations.writing import explain_fault, try_writing
from api.services.resources import Resources
from api.services.webhooks.outbox import DeliveryStatus
from api.storage import migrations
from api.storage.db import read_database_time
from api.storage.fault_names import name_fault, tell_refusal
from api.storage.tables import ApiKeyRow, SettlementAccount, Vendor, WebhookDelivery, WebhookSubscription

DATABASE, SECRETS, CLOCK, WORKER = "database", "secrets", "clock", "worker"
WEBHOOKS, VENDORS, KEYS, ACCOUNTS, PAYMENTS = "webhooks", "vendors", "keys", "accounts", "payments"
BACKUPS = "backups"
POSTGRES_PORT = 5432
SKEW, WORST_SKEW = timedelta(seconds=2), timedelta(seconds=30)
"""A receiver refuses a webhook whose signature is five minutes off; leases and expiries go by the clock before that."""
OVERDUE = timedelta(minutes=1)
MOST_NAMED = 5
SOON = timedelta(days=7)
"""Before its end a key is warned of, or for the last fifth of its life where that is less."""
LAST_PART = 5


def check_database(resources: Resources) -> Iterator[Finding]:
    """Look at the database, and at what it tells if it can be read."""
    try:
        with resources.database.read() as session:
            session.execute(select(1))
    except SQLAlchemyError as error:
        reason = tell_refusal(error, resources.config.database_url) or name_fault(error)
        yield blame(DATABASE, f"{_locate(resources)} does not answer ({reason})", "start it, and check DATABASE_URL")
        return
    engine = resources.database.engine
    schema = migrations.check_schema(engine)
    if not schema.is_usable:
        yield blame(DATABASE, *schema.explain())
        return
    yield _tell_of_writing(_locate(resources), try_writing(resources))
    for check in (
        _check_secrets,
        _check_clock,
        _check_webhooks,
        _check_vendors,
        _check_keys,
        _check_accounts,
        _check_payments,
        _check_backups,
    ):
        with resources.database.read() as session:
            yield from check(resources, session)
    yield from _check_worker(check_worker_health(resources))


def _check_worker(health: WorkerHealth) -> Iterator[Finding]:
    if health.undone and health.write_fault:
        message = f"nobody can do the duties {', '.join(health.undone)}: workers can't write down that they do"
        yield blame(WORKER, message, "let the database be written again, as said of it; workers go on by themselves")
    elif health.undone:
        message = f"nobody does the duties {', '.join(health.undone)}"
        yield blame(WORKER, message, "start `checkout worker`, two of them so that one takes over from the other")
    elif health.unread:
        chains = ", ".join(f"{chain_id} ({env_mode})" for env_mode, chain_id in health.unread)
        message = f"has not read these chains for over {UNREAD.seconds} s: {chains}"
        yield blame(WORKER, message, "see what is said of their endpoints, and the worker's log")
    elif since := max(filter(None, health.shares.values()), default=None):
        message = f"somebody did every duty until {since.seconds} s ago; another takes over within {LAPSED.seconds} s"
        yield praise(WORKER, message)
    else:
        yield praise(WORKER, "somebody does every duty, and reads every chain")
    for name, silent_since in health.silent.items():
        message = f"{name} has not been heard of for {int(silent_since.total_seconds())} s, and has not left"
        killed, hangs = "it was killed: start it anew, unless that is done", "see whether it hangs, and start it anew"
        yield warn(WORKER, message, killed if name in health.ended else hangs)


def _locate(resources: Resources) -> str:
    """Return where the database is, without who may use it."""
    url = resources.database.engine.url
    if url.get_backend_name() == "sqlite":
        return f"SQLite's {url.database}"
    host = url.host or url.query.get("host") or "this machine"
    return f"{url.database} on PostgreSQL at {host}:{url.port or POSTGRES_PORT}"


def _tell_of_writing(place: str, fault: str) -> Finding:
    if fault:
        what, remedy = explain_fault(fault)
        return blame(DATABASE, f"{place} {what}, so orders and payments are not taken", remedy)
    return praise(DATABASE, f"{place} answers, can be written, and is of this version")


def _check_secrets(resources: Resources, session: Session) -> Iterator[Finding]:
    try:
        missing = find_missing_keys(session, resources.config)
    except SecretKeyFault as error:
        problem, _, remedy = str(error).partition(": ")
        yield blame(SECRETS, problem, remedy or "see docs/secrets.md")
        return
    if missing:
        place = f"SECRET_KEYS or {resources.config.data_dir / FILE_NAME}"
        yield blame(
            SECRETS,
            f"the key {missing[0]} is missing, with which stored secrets are encrypted",
            f"put it back into {place}; `checkout secrets reset` only if it is lost",
        )
        return
    yield praise(SECRETS, "every stored secret can be decrypted")


def _check_clock(resources: Resources, session: Session) -> Iterator[Finding]:
    if session.get_bind().dialect.name == "sqlite":
        return  # it has this machine's clock
    before = resources.clock.now()
    ahead = read_database_time(session) - before
    seconds, remedy = ahead.total_seconds(), "let both machines keep time by NTP"
    if abs(ahead) > SKEW:
        say: Callable[[str, str, str], Finding] = blame if abs(ahead) > WORST_SKEW else warn
        yield say(CLOCK, f"the database's clock is {seconds:+.1f} s from this machine's", remedy)
    else:
        yield praise(CLOCK, f"agrees with the database's within {SKEW.seconds} s")


def _check_webhooks(resources: Resources, session: Session) -> Iterator[Finding]:
    now = resources.clock.now()
    unleased = or_(WebhookDelivery.lease_until.is_(None), WebhookDelivery.lease_until <= now)
    overdue = and_(
        WebhookDelivery.status == DeliveryStatus.PENDING, WebhookDelivery.next_attempt_at <= now - OVERDUE, unleased
    )
    waiting = session.scalar(select(func.count()).select_from(WebhookDelivery).where(overdue)) or 0
    disabled = session.execute(
        select(WebhookSubscription.id, WebhookSubscription.disabled_reason, Vendor.name)
        .join(Vendor, Vendor.id == WebhookSubscription.vendor_id)
        .where(WebhookSubscription.disabled_at.is_not(None), WebhookSubscription.deleted_at.is_(None))
        .order_by(WebhookSubscription.disabled_at.desc())
    ).all()
    if waiting:
        yield blame(
            WEBHOOKS,
            f"{waiting} deliveries have been due for over a minute",
            "see whether `checkout worker` runs, and what its log says of webhooks",
        )
    if disabled:
        yield warn(
            WEBHOOKS,
            f"{len(disabled)} webhooks are disabled, the last of them {_list_disabled(disabled[:MOST_NAMED])}",
            "tell their vendors: POST …/enable, then POST …/redeliver_missed for what was not delivered",
        )
    if not waiting and not disabled:
        yield praise(WEBHOOKS, "no delivery is overdue, and no webhook is disabled")


def _list_disabled(rows: Sequence[Row[str, str | None, str]]) -> str:
    return ", ".join(
        f"{subscription_id} of {vendor!r} ({reason})" for subscription_id, reason, vendor in map(tuple, rows)
    )


def _check_vendors(_resources: Resources, session: Session) -> Iterator[Finding]:
    """See whether anybody is there: a copy that was not read in, and another database, have a schema too."""
    if session.scalar(select(Vendor.id).limit(1)) is None:
        remedy = "`checkout vendors create`; where there were some, it is another database, or an empty one"
        yield warn(VENDORS, "there are none, so nobody can take payments", remedy)


def _check_keys(resources: Resources, session: Session) -> Iterator[Finding]:
    now: datetime = resources.clock.now()
    ending = session.execute(
        select(Vendor.name, ApiKeyRow.name, ApiKeyRow.env_mode, ApiKeyRow.created_at, ApiKeyRow.expires_at)
        .join(Vendor, Vendor.id == ApiKeyRow.vendor_id)
        .where(ApiKeyRow.revoked_at.is_(None), ApiKeyRow.expires_at > now, ApiKeyRow.expires_at <= now + SOON)
        .order_by(ApiKeyRow.expires_at)
    )
    for vendor, name, env_mode, made_at, ends_at in ending:
        if ends_at is None or ends_at - now > min(SOON, (ends_at - made_at) / LAST_PART):
            continue
        yield warn(
            KEYS,
            f"the {env_mode} key {name!r} of {vendor!r} ends at {format_time(ends_at)}",
            f"`checkout keys rotate`, with --env {env_mode} and --name, and give the vendor the new one",
        )


def _check_accounts(resources: Resources, session: Session) -> Iterator[Finding]:
    rows = session.execute(
        select(SettlementAccount.currency, SettlementAccount.chain_id, Vendor.name)
        .join(Vendor, Vendor.id == SettlementAccount.vendor_id)
        .where(SettlementAccount.env_mode == EnvMode.LIVE)
        .order_by(Vendor.name, SettlementAccount.currency)
    )
    for currency, chain_id, vendor in rows:
        if chain_id not in resources.config.rpc_urls(EnvMode.LIVE):
            yield warn(
                ACCOUNTS,
                f"{vendor!r} receives {currency} on chain {chain_id}, which is not connected: its links are refused",
                f"add chain {chain_id} to RPC_URLS",
            )


def _check_payments(resources: Resources, session: Session) -> Iterator[Finding]:
    overdue = {
        chain: count for chain, count in count_overdue(resources, session, resources.clock.now()).items() if count
    }
    if overdue:
        told = ", ".join(f"{count} on chain {chain_id} ({mode})" for (mode, chain_id), count in overdue.items())
        say: Callable[[str, str, str], Finding] = blame if any(mode == EnvMode.LIVE for mode, _ in overdue) else warn
        yield say(
            PAYMENTS,
            f"payments should have been final ten minutes ago: {told}",
            "see what is said of the chain's endpoints: nothing is final while half of them are silent; have three",
        )


def _check_backups(resources: Resources, session: Session) -> Iterator[Finding]:
    taken_at, now = find_last_backup(session), resources.clock.now()
    if taken_at is None:
        if resources.config.rpc_urls(EnvMode.LIVE):
            remedy = "enable checkout-backup.timer and start checkout-backup.service once, or run `checkout db backup`"
            yield warn(BACKUPS, "no copy of the database was ever taken by `checkout db backup`", remedy)
    elif now - taken_at > OLD:
        hours = (now - taken_at) // timedelta(hours=1)
        message = f"the newest copy of the database is {hours} hours old, of {format_time(taken_at)}"
        yield warn(BACKUPS, message, "`journalctl -u checkout-backup` says why; is the disk of the copies full?")

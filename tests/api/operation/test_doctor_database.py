"""What `checkout doctor` reads out of the database: who works, what is overdue, which keys end."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection, event, text, update

from api.domain.env import EnvMode
from api.services.operations.doctor.database import check_database
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.services.vendors.key_management import create_key
from api.services.vendors.vendors import Account, create_vendor, set_account
from api.storage.db import Database, read_database_time
from api.storage.tables import Lease, WatchCursor, WebhookSubscription
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.doctor import HASH, list_bad
from tests.support.webhooks import Desk


def _is_sqlite(resources: Resources) -> bool:
    return resources.database.engine.dialect.name == "sqlite"


def test_a_database_that_is_read_only_is_said(resources: Resources) -> None:
    if _is_sqlite(resources):
        database = Database(f"sqlite:///file:{resources.database.engine.url.database}?mode=ro&uri=true")
    else:
        database = Database(resources.database.engine.url)
        event.listen(database.engine, "begin", _forbid_writing)
    bad = list_bad(check_database(replace(resources, database=database)))
    database.close()
    assert " can't be written (" in bad["wrong database"]


def _forbid_writing(connection: Connection) -> None:
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")


def test_what_the_database_tells_is_judged(
    desk: Desk, resources: Resources, clock: SettableClock, merchant: Merchant
) -> None:
    """A backlog, a webhook that was disabled, a key that ends and an account on no chain."""
    with resources.database.write() as session:
        create_key(session, (merchant.id, EnvMode.LIVE), clock.now(), name="audit", lifetime=timedelta(days=36))
    clock.advance(days=28)
    hook = desk.subscribe(merchant)
    desk.publish(merchant, order_id=None)
    token, address = "0x" + "11" * 20, "0x" + "22" * 20
    usdc = Account(currency="USDC", chain_id=8453, token_address=token, token_decimals=6, address=address)
    with resources.database.write() as session:
        create_key(session, (merchant.id, EnvMode.LIVE), clock.now(), name="night", lifetime=timedelta(hours=60))
        set_account(session, merchant.id, EnvMode.LIVE, usdc, clock.now())
    bad = list_bad(check_database(resources))
    assert "wrong webhooks" not in bad
    assert "warning keys" not in bad
    clock.advance(days=2)  # of the key for a night less than a fifth is left, of the other less than a week
    keys = [each.message for each in check_database(resources) if each.about == "keys"]
    assert keys == [
        "the live key 'night' of 'Tea & Co' ends at 2026-04-01T00:00:00.000Z",
        "the live key 'audit' of 'Tea & Co' ends at 2026-04-06T12:00:00.000Z",
    ]
    clock.advance(hours=12)
    bad = list_bad(check_database(resources))
    assert bad["wrong webhooks"].startswith("1 deliveries have been due for over a minute → see whether")
    assert bad["warning keys"].startswith("the live key 'audit' of 'Tea & Co' ends at 2026-04-06T12:00:00.000Z → ")
    assert bad["warning accounts"].startswith("'Tea & Co' receives USDC on chain 8453, which is not connected")
    with resources.database.write() as session:
        disable = update(WebhookSubscription).where(WebhookSubscription.id == hook["webhook_id"])
        session.execute(disable.values(disabled_at=clock.now(), disabled_reason="failing"))
        session.execute(text("UPDATE webhook_deliveries SET status = 'cancelled'"))
    said = list_bad(check_database(resources))["warning webhooks"]
    assert said.startswith(f"1 webhooks are disabled, the last of them {hook['webhook_id']} of 'Tea & Co' (failing) → ")


def test_a_database_without_anybody_in_it_is_not_called_well(desk: Desk, resources: Resources) -> None:
    """After a restore whose copy was not read in, `checkout db upgrade` makes a schema, and all was said to be well."""
    assert list_bad(check_database(resources))["warning vendors"].startswith("there are none, so nobody can take")
    with resources.database.write() as session:
        create_vendor(session, "Tea & Co", resources.clock.now())
    assert "warning vendors" not in list_bad(check_database(resources))


def test_it_is_said_since_when_nobody_works(resources: Resources, clock: SettableClock) -> None:
    with resources.database.write() as session:
        moment = read_database_time(session) - timedelta(seconds=6)
        for share in list_shares(resources):
            session.add(Lease(duty=share, holder="w", token=1, expires_at=moment))
        for chain_id in resources.ledgers[EnvMode.TEST].chain_ids:
            read = {"block_number": 1, "block_hash": HASH, "final_number": 0, "mined_at": moment}
            session.add(WatchCursor(env_mode="test", chain_id=chain_id, updated_at=clock.now(), **read))
    (worker,) = [each for each in check_database(resources) if each.about == "worker"]
    assert re.match(r"somebody did every duty until [67] s ago; another takes over within 15 s", worker.message)


def test_a_clock_that_is_off_is_said(resources: Resources) -> None:
    """The tests' clock stands months from the server's; on SQLite both are the same machine's."""
    bad = list_bad(check_database(resources))
    assert ("wrong clock" in bad) == (not _is_sqlite(resources))


def test_a_lost_key_of_secrets_is_said(desk: Desk, resources: Resources, merchant: Merchant) -> None:
    desk.subscribe(merchant)
    other = "A" * 43 + "="
    bad = list_bad(check_database(replace(resources, config=replace(resources.config, secret_keys=(other,)))))
    assert bad["wrong secrets"].startswith("the key ")
    assert other not in str(bad)

"""What `checkout doctor` finds wrong, and that it says what to do and no secret."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner, Result
from pytest_httpserver import HTTPServer
from sqlalchemy import Connection, event, text, update
from werkzeug import Request, Response

from adapters.feed.plan import Plan
from api.cli.commands import main
from api.cli.http import ServiceClient
from api.config import Config
from api.domain.env import EnvMode
from api.services.operations.doctor.chains import check_chains
from api.services.operations.doctor.database import check_database
from api.services.operations.doctor.findings import Finding
from api.services.operations.doctor.market import check_market
from api.services.operations.doctor.reach import check_reach
from api.services.operations.doctor.settings import check_files, check_settings
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.services.vendors.key_management import create_key
from api.services.vendors.vendors import Account, set_account
from api.storage.db import Database, read_database_time
from api.storage.tables import Lease, WatchCursor, WebhookSubscription
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.nodes import Node, NodeError
from tests.support.webhooks import Desk

Run = Callable[..., Result]
HASH = "0x" + "ab" * 32


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    monkeypatch.setenv("BASE_URL", "http://127.0.0.1:9")  # nobody is there
    resources.config.data_dir.chmod(0o700)

    def invoke(*words: str, **settings: str) -> Result:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(main, ("doctor", *words))

    return invoke


def list_bad(findings: Iterator[Finding] | Sequence[Finding]) -> dict[str, str]:
    """Messages of what is not well, with their remedies, by what they are about and how bad they are."""
    bad = [each for each in findings if each.level != "ok"]
    assert all(each.remedy for each in bad)
    assert len({each.about for each in bad}) == len(bad), bad
    return {f"{each.level} {each.about}": f"{each.message} → {each.remedy}" for each in bad}


def test_what_is_wrong_is_said_with_its_remedy_and_fails(run: Run) -> None:
    result = run("--json")
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["about"]: row["level"] for row in rows} == {
        "settings": "ok",
        "files": "ok",
        "database": "ok",
        "secrets": "ok",
        "webhooks": "ok",
        "worker": "wrong",
        "api": "warning",
        "receivers": "ok",
        "market": "ok",
        "chains": "ok",
    } | ({"clock": "ok", "disk": "ok"} if any(row["about"] == "clock" for row in rows) else {})
    (worker,) = [row for row in rows if row["about"] == "worker"]
    assert worker["message"].startswith("nobody does the duties ")
    assert worker["remedy"].startswith("start `checkout worker`")
    shown = run().stdout
    assert "wrong   worker: nobody does the duties" in shown
    assert "        → start `checkout worker`" in shown


def test_with_a_worker_all_is_well(run: Run, resources: Resources) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=5)
    with resources.database.write() as session:
        for share in list_shares(resources):
            session.add(Lease(duty=share, holder="w", token=1, expires_at=soon))
        for chain_id in resources.ledgers[EnvMode.TEST].chain_ids:
            read = {"block_number": 1, "block_hash": HASH, "final_number": 0, "mined_at": soon, "updated_at": soon}
            session.add(WatchCursor(env_mode="test", chain_id=chain_id, **read))
    result = run()
    assert result.exit_code == 0, result.output


def _is_sqlite(resources: Resources) -> bool:
    return resources.database.engine.dialect.name == "sqlite"


def test_a_bad_setting_is_all_that_is_said(run: Run) -> None:
    result = run(PORT="eighty")
    assert result.exit_code == 1
    assert "PORT" in result.stdout
    assert "database" not in result.stdout


def test_a_database_that_is_not_there_is_not_made(run: Run, tmp_path: Path) -> None:
    result = run(DATABASE_URL="", DATA_DIR=str(tmp_path / "new"))
    assert result.exit_code == 1
    assert "there is none at" in result.stdout
    assert not (tmp_path / "new").exists()


def test_a_database_that_was_there_until_lately_is_not_made_anew(run: Run, tmp_path: Path) -> None:
    """Its log lies there still, and whoever runs writes to a file without a name: an empty one would take its place."""
    (tmp_path / "checkout.db-wal").write_bytes(b"written")
    said = run("--json", DATABASE_URL="", DATA_DIR=str(tmp_path)).stdout
    assert "docs/runbook.md" in said
    assert "db upgrade" not in said
    refused = CliRunner().invoke(main, ("db", "upgrade"))
    assert refused.exit_code == 1
    assert "docs/runbook.md" in refused.output
    assert not (tmp_path / "checkout.db").exists()


def test_a_database_that_does_not_answer_is_said_without_its_password(run: Run) -> None:
    result = run("--json", DATABASE_URL="postgresql://me:hunter2@127.0.0.1:9/x")
    assert result.exit_code == 1
    assert "x on PostgreSQL at 127.0.0.1:9 does not answer (" in result.stdout
    assert "Connection refused" in result.stdout
    assert "hunter2" not in result.output


def test_a_misspelled_setting_is_named_with_the_one_that_is_meant(run: Run) -> None:
    said = run("--json", DATABSE_URL="postgresql://me:hunter2@127.0.0.1:9/x", RPC_URL="x", HOSTNAME="shop").stdout
    assert "DATABSE_URL is no setting, so nobody reads it" in said
    assert "write DATABASE_URL if that is meant" in said
    assert "write RPC_URLS if that is meant" in said
    assert "HOSTNAME" not in said
    assert "hunter2" not in said


def test_one_check_that_fails_hides_no_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> Iterator[Finding]:
        raise LookupError("nobody expected this")

    monkeypatch.setattr("api.services.operations.doctor.redis.check_redis", fail)
    rows = [json.loads(line) for line in run("--json").stdout.splitlines() if line.startswith("{")]
    found = {row["about"]: row["message"] for row in rows}
    assert found["redis"] == "could not be looked at: LookupError"
    assert {"market", "chains"} < found.keys()


def test_an_old_schema_is_said(run: Run, make_database_url: Callable[[str], str]) -> None:
    url = make_database_url("sqlite")
    Database(url).engine.connect().close()
    result = run(DATABASE_URL=url)
    assert result.exit_code == 1
    assert "run `checkout db upgrade`" in result.stdout


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


def test_files_that_others_may_use_are_named(config: Config, tmp_path: Path) -> None:
    mine = replace(config, data_dir=tmp_path / "d", database_url=f"sqlite:///{tmp_path / 'd' / 'checkout.db'}")
    mine.data_dir.mkdir(0o700)
    for name in ("secret.key", "checkout.db", "checkout.db-wal"):
        (mine.data_dir / name).touch(0o600)
    assert list_bad(check_files(mine)) == {}
    for path in (mine.data_dir / "secret.key", mine.data_dir / "checkout.db-wal", mine.data_dir):
        mode = path.stat().st_mode
        path.chmod(0o755)
        (message,) = list_bad(check_files(mine)).values()
        assert message.startswith(f"others may use {path} (mode 0755) → chmod")
        assert path.stat().st_mode & 0o777 == 0o755, "it changes nothing"
        path.chmod(mode)


def test_a_disk_that_is_full_is_said(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 5 * 2**20

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    config.data_dir.chmod(0o700)
    assert list_bad(check_files(config))["wrong files"].startswith("5 MB are free")


def test_settings_that_promise_too_much_are_named(config: Config) -> None:
    live = {8453: ("https://rpc.example/SECRET", "https://other.example/SECRET")}
    market = Plan(adapters=("chain",), rpc_urls=live)
    sane = replace(config, market=market, forwarded_allow_ips="127.0.0.1", metrics_token="s3cret" * 4)
    assert list_bad(check_settings(sane)) == {}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"market": Plan(rpc_urls=live)}, "wrong settings: live orders are priced on the sandbox"),
        ({"market": Plan(rpc_urls=live), "market_file": Path("m.json")}, "warning settings: live orders are priced on"),
        ({"base_url": "http://pay.example"}, "wrong settings: BASE_URL is plain http"),
        ({"allow_local_webhooks": True}, "warning settings: ALLOW_LOCAL_WEBHOOKS"),
        ({"web_workers": 2}, "warning settings: each of 2 HTTP processes reads"),
        ({"metrics_token": None}, "warning settings: /metrics is closed"),
        ({"metrics_token": "a"}, "warning settings: METRICS_TOKEN is short enough to be guessed"),
        ({"forwarded_allow_ips": ""}, "warning settings: behind a proxy"),
        (
            {"market": Plan(adapters=("chain",), rpc_urls={1: ("https://rpc.example/SECRET",)})},
            "warning settings: chain 1 has one endpoint",
        ),
    ]
    for changes, wanted in cases:
        ((about, message),) = list_bad(check_settings(replace(sane, **changes))).items()
        assert f"{about}: {message}".startswith(wanted)
        assert "SECRET" not in message


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


def test_a_receiver_that_takes_nothing_is_named_without_its_address(
    desk: Desk, resources: Resources, clock: SettableClock, merchant: Merchant, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/healthz").respond_with_data("ok")
    here = replace(resources, config=replace(resources.config, base_url=f"http://127.0.0.1:{httpserver.port}"))
    hook = desk.subscribe(merchant, url="https://shop.example/SECRET")
    for status in (200, 500, 500, 500):
        assert list_bad(check_reach(here)) == {}, status
        desk.transport.always(status=status)
        desk.publish(merchant)
        desk.work()
        clock.advance(seconds=90)
    ((about, message),) = list_bad(check_reach(here)).items()
    assert about == "warning receivers"
    assert f"{hook['webhook_id']} (shop.example, test, 'Tea & Co'): 3 deliveries since " in message
    assert ", the last: 500 → " in message
    assert "SECRET" not in message
    desk.transport.always(status=200)
    clock.advance(minutes=10)
    desk.work()
    assert list_bad(check_reach(here)) == {}


def test_an_api_that_does_not_answer_at_its_address_is_said(resources: Resources, httpserver: HTTPServer) -> None:
    base_url = f"http://127.0.0.1:{httpserver.port}"
    there = replace(resources, config=replace(resources.config, base_url=base_url))
    httpserver.expect_request("/healthz").respond_with_data("", 502)
    assert f"answers 502 at {base_url}/healthz" in list_bad(check_reach(there))["warning api"]
    away = replace(resources, config=replace(resources.config, base_url="http://127.0.0.1:9"))
    assert "does not answer at http://127.0.0.1:9 (ConnectionError)" in list_bad(check_reach(away))["warning api"]
    assert f"answers 502 at {base_url}/healthz" in list_bad(check_reach(away, base_url + "/"))["warning api"]


def test_a_certificate_that_is_not_trusted_is_no_dead_service(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = Path(__file__).parents[2] / "support" / "tls" / "hooks.test.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, pem.with_suffix(".key"))
    with HTTPServer(ssl_context=context) as server:
        base_url = f"https://127.0.0.1:{server.port}"
        there = replace(resources, config=replace(resources.config, base_url=base_url))
        said = list_bad(check_reach(there))["warning api"]
        with pytest.raises(ClickException, match="REQUESTS_CA_BUNDLE"):
            ServiceClient(base_url, "sk_test_x").get("/api/v1/payment")
    assert said.startswith(f"answers at {base_url} with a certificate that this machine does not trust")
    assert "set REQUESTS_CA_BUNDLE" in said


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


class Chain(Node):
    """A node that has a transaction in each block, and may trace it."""

    traces = True

    def __init__(self, chain_id: int = 8453, head: int = 100, fork: str = "a") -> None:
        super().__init__(chain_id, head, fork)
        self.timestamp = 0

    def _block(self, which: str) -> Any:
        block = super()._block(hex(max(0, self.head - 3)) if which == "finalized" else which)
        return block and {**block, "transactions": [HASH]}

    def _result(self, method: str, parameters: list[Any]) -> Any:
        if method == "debug_traceTransaction":
            if not self.traces:
                raise NodeError("the method debug_traceTransaction does not exist", -32601)
            return {"from": "0x" + "11" * 20, "type": "CALL"}
        return super()._result(method, parameters)


@pytest.fixture
def examine(resources: Resources, clock: SettableClock, httpserver: HTTPServer) -> Callable[..., dict[str, str]]:
    """Check a chain whose endpoints are these nodes."""

    def check(*nodes: Chain) -> dict[str, str]:
        urls = []
        for number, node in enumerate(nodes):
            node.timestamp = node.timestamp or int(clock.now().timestamp()) - 5

            def respond(request: Request, node: Chain = node) -> Response:
                return Response(json.dumps(node.answer(request.get_json())), mimetype="application/json")

            httpserver.expect_request(f"/{number}/SECRET").respond_with_handler(respond)
            host = "localhost" if number else "127.0.0.1"
            urls.append(f"http://{host}:{httpserver.port}/{number}/SECRET")
        plan = replace(resources.config.market, rpc_urls={8453: tuple(urls)})
        found = list(check_chains(replace(resources, config=replace(resources.config, market=plan))))
        httpserver.clear()
        assert "SECRET" not in str(found)
        assert found
        return list_bad(found)

    return check


@pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
def test_each_endpoint_of_a_chain_is_judged(examine: Callable[..., dict[str, str]], clock: SettableClock) -> None:
    assert examine(Chain(8453), Chain(8453)) == {}
    bad = examine(Chain(8453), Chain(1))
    assert list(bad) == ["wrong chain 8453 (live)"]
    assert "localhost" in bad["wrong chain 8453 (live)"]
    assert bad["wrong chain 8453 (live)"].count("8453") == bad["wrong chain 8453 (live)"].count("localhost") == 1
    assert " 1" in bad["wrong chain 8453 (live)"]
    (behind,) = examine(Chain(8453, head=200), Chain(8453, head=150)).values()
    assert "is 50 blocks behind the others" in behind
    blind = Chain(8453)
    blind.traces = False
    assert examine(blind, Chain(8453)) == {}
    (dark,) = examine(blind).values()
    assert dark.startswith("no endpoint traces transactions")
    (apart,) = examine(Chain(8453), Chain(8453, fork="b")).values()
    assert "different blocks 97, which is to be final" in apart
    clock.advance(seconds=-35)
    slow = Chain(8453)
    slow.timestamp = int(clock.now().timestamp()) + 30
    (future,) = examine(slow).values()
    assert "30 s in the future: this machine's clock is slow" in future
    broken = Chain(8453)
    broken.garbage = {"what": "?"}
    (garbage,) = examine(broken).values()
    assert garbage.startswith("127.0.0.1:")


def test_a_market_that_can_not_be_read_is_said(resources: Resources, tmp_path: Path) -> None:
    assert list_bad(check_market(resources)) == {}
    (tmp_path / "market.json").write_text("{")
    config = replace(resources.config, market_file=tmp_path / "market.json")
    bad = [each for each in check_market(replace(resources, config=config)) if each.level != "ok"]
    assert {each.level for each in bad} == {"wrong"}
    assert "no source gives any market" in bad[-1].message
    adapters = replace(resources.config, market=Plan(adapters=("nothing",)))
    (finding,) = check_market(replace(resources, config=adapters))
    assert (finding.level, finding.remedy) == ("wrong", "correct ADAPTERS")

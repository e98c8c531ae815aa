"""Secrets at rest: encrypted, bound to their place, with keys that can be rotated and files that others cannot read."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, update
from standardwebhooks import WebhookVerificationError

from api.cli.commands import main
from api.config import Config, ConfigError
from api.context import attach_resources, build_resources
from api.secrets.box import SecretBox, open_box
from api.secrets.keys import FixedKeys, KeyFile, SecretKeyFault, make_key, parse_keys
from api.services.operations.stored_secrets import require_keys, reset_secrets, rotate_keys
from api.services.resources import Resources
from api.services.webhooks.secrets import MOST, name_purpose
from api.storage.db import Database
from api.storage.tables import Base, IdempotencyKey, WebhookSecret
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock
from tests.support.running import find_free_port
from tests.support.shop import LINK
from tests.support.webhooks import SUBSCRIPTIONS, Desk, Sent, verify


@pytest.fixture
def public_umask() -> Iterator[None]:
    """As on a machine where everybody may read what is made."""
    before = os.umask(0)
    yield
    os.umask(before)


def rotate(desk: Desk, merchant: Merchant, webhook_id: str) -> str:
    answer = desk.client.post(f"{SUBSCRIPTIONS}/{webhook_id}/rotate_secret", headers=merchant.headers())
    assert answer.status_code == 200, answer.get_json()
    return str(answer.get_json()["data"]["secret"])


def everything_stored(resources: Resources) -> str:
    with resources.database.engine.connect() as connection:
        return repr([connection.execute(table.select()).all() for table in Base.metadata.sorted_tables])


def ciphertexts(resources: Resources) -> list[str]:
    with resources.database.read() as session:
        return [
            *session.scalars(select(WebhookSecret.ciphertext)),
            *session.scalars(select(IdempotencyKey.response_body)),
        ]


def verifies(secret: str, sent: Sent) -> bool:
    try:
        verify(secret, sent)
    except WebhookVerificationError:
        return False
    return True


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.rule("deliveries.15")
def test_no_secret_is_in_the_database(desk: Desk, merchant: Merchant) -> None:
    made = desk.subscribe(merchant)
    secrets = [made["secret"], rotate(desk, merchant, made["webhook_id"])]
    stored = everything_stored(desk.resources)
    assert made["webhook_id"] in stored
    for secret in secrets:
        assert secret.removeprefix("whsec_") not in stored
        assert repr(base64.b64decode(secret.removeprefix("whsec_"))) not in stored


@pytest.mark.rule("deliveries.16")
def test_all_secrets_of_the_last_day_sign_each_until_its_own_end(
    desk: Desk, merchant: Merchant, clock: SettableClock
) -> None:
    made = desk.subscribe(merchant)
    deployed, webhook_id = made["secret"], made["webhook_id"]
    second = rotate(desk, merchant, webhook_id)
    clock.advance(hours=12)
    third = rotate(desk, merchant, webhook_id)
    found = []
    for hours in (0, 11.999, 0.001, 12):
        clock.advance(hours=hours)
        desk.publish(merchant)
        (sent,) = desk.work()
        found.append([verifies(secret, sent) for secret in (deployed, second, third)])
    assert found == [[True, True, True], [True, True, True], [False, True, True], [False, False, True]]


def test_rotating_without_end_is_refused(
    desk: Desk, merchant: Merchant, clock: SettableClock, assert_error: Callable[..., None]
) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    for _ in range(MOST - 1):
        rotate(desk, merchant, webhook_id)
    path = f"{SUBSCRIPTIONS}/{webhook_id}/rotate_secret"
    refused = desk.client.post(path, headers=merchant.headers())
    assert_error(refused, 409)
    assert refused.headers["Retry-After"] == str(24 * 3600 + 1)
    clock.advance(hours=24, seconds=1)
    rotate(desk, merchant, webhook_id)


@pytest.mark.rule("deliveries.15")
def test_a_secret_in_anothers_row_signs_nothing(desk: Desk, merchant: Merchant, other_merchant: Merchant) -> None:
    theirs, ours = desk.subscribe(other_merchant), desk.subscribe(merchant)
    box = desk.resources.box
    with desk.resources.database.write() as session:
        query = select(WebhookSecret.ciphertext).where(WebhookSecret.subscription_id == theirs["webhook_id"])
        stolen = session.scalars(query).one()
        mine = WebhookSecret.subscription_id == ours["webhook_id"]
        session.execute(update(WebhookSecret).where(mine).values(ciphertext=stolen))
    assert box.open(stolen, name_purpose(theirs["webhook_id"])) == theirs["secret"]
    with pytest.raises(SecretKeyFault, match="another's"):
        box.open(stolen, name_purpose(ours["webhook_id"]))
    desk.publish(merchant)
    assert desk.work() == []


def test_a_deleted_webhook_leaves_no_secret(desk: Desk, merchant: Merchant) -> None:
    made = desk.subscribe(merchant)
    desk.client.delete(f"{SUBSCRIPTIONS}/{made['webhook_id']}", headers=merchant.headers())
    assert ciphertexts(desk.resources) == []


@pytest.mark.parametrize("change", [lambda text: text[:-8] + "AAAAAAA=", lambda text: text[:20], lambda _: ""])
def test_a_damaged_secret_is_refused(change: Callable[[str], str]) -> None:
    box = SecretBox(FixedKeys(parse_keys([make_key()], "SECRET_KEYS")))
    with pytest.raises(SecretKeyFault):
        box.open(change(box.seal("whsec_x", "p")), "p")


def test_nothing_shows_a_key_or_a_secret(desk: Desk, merchant: Merchant) -> None:
    text = make_key()
    (key,) = parse_keys([text], "SECRET_KEYS")
    shown = [repr(key), repr(SecretBox(FixedKeys((key,)))), repr(replace(desk.resources.config, secret_keys=(text,)))]
    with pytest.raises(SecretKeyFault) as fault:
        parse_keys([text[:-4]], "SECRET_KEYS")
    shown.append(str(fault.value))
    assert all(text[:20] not in each and repr(key.material)[2:-1] not in each for each in shown)


def filed(resources: Resources, folder: Path) -> Config:
    """Settings without SECRET_KEYS."""
    return replace(resources.config, secret_keys=(), data_dir=folder)


def test_the_first_start_makes_one_key_file(resources: Resources, tmp_path: Path, public_umask: None) -> None:
    config = filed(resources, tmp_path / "data")
    with ThreadPoolExecutor(8) as pool, resources.database.read() as session:
        made = [pool.submit(KeyFile(config.data_dir / "secret.key").make) for _ in range(8)]
        assert [each.result() for each in made] == [None] * 8
        require_keys(session, config)
    path = config.data_dir / "secret.key"
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert len(parse_keys(path.read_text().split(), "the file")) == 1
    assert [each.name for each in path.parent.iterdir()] == ["secret.key"]


def test_a_key_file_that_others_may_read_is_refused(resources: Resources, tmp_path: Path) -> None:
    config = filed(resources, tmp_path)
    with resources.database.read() as session:
        require_keys(session, config)
        (tmp_path / "secret.key").chmod(0o640)
        with pytest.raises(SecretKeyFault, match="chmod 600"):
            require_keys(session, config)


@pytest.mark.parametrize("text", ["", "c2hvcnQ=", "no base64!"])
def test_a_damaged_key_file_is_refused(resources: Resources, tmp_path: Path, text: str) -> None:
    path = tmp_path / "secret.key"
    path.write_text(text)
    path.chmod(0o600)
    with resources.database.read() as session, pytest.raises(SecretKeyFault, match="openssl rand"):
        require_keys(session, filed(resources, tmp_path))


def test_a_lost_key_stops_the_start_and_can_be_got_over(
    desk: Desk, merchant: Merchant, clock: SettableClock, tmp_path: Path
) -> None:
    made = desk.subscribe(merchant)
    desk.client.post("/api/v1/payment_link", json=LINK, headers=merchant.headers() | {"Idempotency-Key": "1"})
    config = filed(desk.resources, tmp_path / "new")
    with desk.resources.database.read() as session, pytest.raises(SecretKeyFault, match="secrets reset"):
        require_keys(session, config)
    assert not (tmp_path / "new" / "secret.key").exists()
    assert reset_secrets(desk.resources.database, config, clock.now()) == 1
    with desk.resources.database.read() as session:
        require_keys(session, config)
    box = open_box(config.secret_keys, config.data_dir)
    (stored,) = ciphertexts(desk.resources)
    assert box.open(stored, name_purpose(made["webhook_id"])) != made["secret"]


@pytest.fixture
def filed_desk(desk: Desk, tmp_path: Path) -> Desk:
    """The same with a key file."""
    shared = replace(desk.resources, config=filed(desk.resources, tmp_path))
    with shared.database.read() as session:
        require_keys(session, shared.config)
    attach_resources(desk.client.application, shared)
    return replace(desk, resources=shared)


def test_rotating_the_key_file(filed_desk: Desk, merchant: Merchant) -> None:
    made, resources = filed_desk.subscribe(merchant), filed_desk.resources
    box = resources.box
    late, (first,) = box.seal("whsec_b2xk", "p"), box.keyring.read()
    rotated = rotate_keys(resources.database, resources.config, START)
    second, *before = box.keyring.read()
    assert (rotated.count, rotated.key_id, before) == (1, second.id, [first])
    assert box.open(late, "p") == "whsec_b2xk"  # written by a process that had not seen the new key yet
    assert rotate_keys(resources.database, resources.config, START).count == 1
    with pytest.raises(SecretKeyFault, match="is missing"):
        box.open(late, "p")
    assert mode(resources.config.data_dir / "secret.key") == 0o600
    filed_desk.publish(merchant)
    (sent,) = filed_desk.work()
    assert verifies(made["secret"], sent)


def test_rotating_that_ends_half_way_loses_nothing(
    filed_desk: Desk, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, resources = filed_desk.subscribe(merchant), filed_desk.resources

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr("api.services.operations.stored_secrets._reseal", end)
            with pytest.raises(KeyboardInterrupt):
                rotate_keys(resources.database, resources.config, START)
    with resources.database.read() as session:
        require_keys(session, resources.config)
    rotate_keys(resources.database, resources.config, START)
    (stored,) = ciphertexts(resources)
    assert resources.box.open(stored, name_purpose(made["webhook_id"])) == made["secret"]


def test_keys_rotated_by_many_at_once_lose_nothing(filed_desk: Desk, merchant: Merchant) -> None:
    made, resources = filed_desk.subscribe(merchant), filed_desk.resources
    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(rotate_keys, resources.database, resources.config, START) for _ in range(8)]:
            each.result()
    (stored,) = ciphertexts(resources)
    assert resources.box.open(stored, name_purpose(made["webhook_id"])) == made["secret"]
    assert len(resources.box.keyring.read()) == 2


def test_rotating_the_keys_of_the_setting(desk: Desk, merchant: Merchant) -> None:
    made = desk.subscribe(merchant)
    headers = merchant.headers() | {"Idempotency-Key": "1"}
    first = desk.client.post("/api/v1/payment_link", json=LINK, headers=headers).get_json()
    database, (old,) = desk.resources.database, desk.resources.config.secret_keys
    new = make_key()
    both, alone = (replace(desk.resources.config, secret_keys=keys) for keys in ((new, old), (new,)))
    with database.read() as session, pytest.raises(SecretKeyFault, match="neither in SECRET_KEYS"):
        require_keys(session, alone)
    assert rotate_keys(database, both, START).count == 2
    assert rotate_keys(database, both, START).count == 0
    with database.read() as session:
        require_keys(session, alone)
    moved = Desk.of(replace(desk.resources, config=alone), desk.client)
    moved.publish(merchant)
    sent, *_ = moved.work()
    moved.dispatcher.end()
    assert verifies(made["secret"], sent)
    attach_resources(desk.client.application, moved.resources)
    assert desk.client.post("/api/v1/payment_link", json=LINK, headers=headers).get_json() == first


@pytest.mark.parametrize("texts", ["short", "c2hvcnQ=", f"{base64.b64encode(bytes(32)).decode()},x"])
def test_a_malformed_setting_is_named(monkeypatch: pytest.MonkeyPatch, texts: str) -> None:
    monkeypatch.setenv("SECRET_KEYS", texts)
    with pytest.raises(ConfigError, match="SECRET_KEYS") as refused:
        Config.from_env()
    assert texts not in str(refused.value)


def run(resources: Resources, folder: Path, *words: str) -> Result:
    port = str(find_free_port())
    env = {"PORT": port, "DATABASE_URL": resources.config.database_url, "DATA_DIR": str(folder), "SECRET_KEYS": ""}
    return CliRunner(env=env).invoke(main, words)


@pytest.mark.parametrize("command", [("serve", "--port", "1"), ("worker",), ("up", "--port", "0")])
def test_no_process_starts_without_its_keys(
    desk: Desk, merchant: Merchant, tmp_path: Path, command: tuple[str]
) -> None:
    desk.subscribe(merchant)
    if command[0] == "up":
        command = ("up",)
    result = run(desk.resources, tmp_path, *command)
    assert result.exit_code == 1
    assert "Put it back" in result.output


def test_the_commands(desk: Desk, merchant: Merchant, tmp_path: Path) -> None:
    desk.subscribe(merchant)
    assert run(desk.resources, tmp_path, "secrets", "rotate").exit_code == 1
    assert "1 webhooks have a new secret" in run(desk.resources, tmp_path, "secrets", "reset", "--yes").output
    rotated = run(desk.resources, tmp_path, "secrets", "rotate").output
    assert "1 secrets were encrypted anew" in rotated
    assert "Backups from before need the key before" in rotated


def test_what_the_service_writes_is_its_own(tmp_path: Path, public_umask: None) -> None:
    folder = tmp_path / "made" / "data"
    url = f"sqlite:///{folder / 'checkout.db'}"
    resources = build_resources(Config(data_dir=folder, database_url=url))
    with resources.database.write() as session:
        session.execute(select(1))
        session.connection().exec_driver_sql("CREATE TABLE something (x)")
    found = {path.name: mode(path) for path in folder.iterdir()}
    resources.database.close()
    suffixes = ("", "-wal", "-shm", "-line", "-turn")
    assert found == {f"checkout.db{suffix}": 0o600 for suffix in suffixes}
    assert mode(folder) == 0o700


def test_files_of_an_earlier_start_are_repaired(tmp_path: Path) -> None:
    names = ("checkout.db", "checkout.db-wal", "checkout.db-shm", "checkout.db-turn", "worker.lock")
    for name in names:
        (tmp_path / name).touch(0o644)
        (tmp_path / name).chmod(0o644)
    tmp_path.chmod(0o755)
    build_resources(Config(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'checkout.db'}")).database.close()
    assert {mode(tmp_path / name) for name in names} == {0o600}
    assert mode(tmp_path) == 0o700


@pytest.mark.parametrize("folder", ["/", "/tmp", str(Path.home())])
def test_a_folder_of_everybody_is_left_alone(folder: str) -> None:
    before = mode(Path(folder))
    with pytest.raises(ConfigError, match="DATA_DIR"):
        build_resources(Config(data_dir=Path(folder), database_url="sqlite:///:memory:"))
    assert mode(Path(folder)) == before


def test_a_database_elsewhere_is_private_too(tmp_path: Path, public_umask: None) -> None:
    path = tmp_path / "shared" / "checkout.db"
    path.parent.mkdir(0o755)
    Database(f"sqlite:///{path}").close()
    assert (mode(path), mode(path.parent)) == (0o600, 0o755)

"""What `checkout up` prints stays the same over its restarts: the key in a shop's settings goes on working."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from api.domain.env import EnvMode
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.vendors.key_management import revoke_key
from api.services.vendors.vendors import create_vendor
from api.startup.demo_key import FILE_NAME, DemoKey, keep_demo_key
from api.storage.tables import ApiKeyRow
from tests.support.running import run_service


def test_the_demo_key_stays_the_same_over_restarts(resources: Resources) -> None:
    first = keep_demo_key(resources)
    file = resources.config.data_dir / FILE_NAME
    assert first.note == ""
    assert file.stat().st_mode & 0o777 == 0o600
    assert [keep_demo_key(resources) for _ in range(3)] == [first] * 3
    with resources.database.read() as session:
        assert find_key(session, first.text, resources.clock.now())
        hashes = [row.key_hash for row in session.scalars(select(ApiKeyRow))]
    assert first.text not in hashes


@pytest.mark.parametrize(
    ("damage", "why"), [("lost", "there was none"), ("garbage", "works no more"), ("revoked", "works no more")]
)
def test_a_demo_key_that_works_no_more_is_replaced_and_told(resources: Resources, damage: str, why: str) -> None:
    first, file = keep_demo_key(resources), resources.config.data_dir / FILE_NAME
    now = resources.clock.now()
    if damage == "lost":
        file.unlink()
    elif damage == "garbage":
        file.write_bytes(b"\xff\x00")
        file.chmod(0o644)
    else:
        with resources.database.write() as session:
            found = find_key(session, first.text, now)
            assert found
            revoke_key(session, found.vendor_id, found.key_id, now)
    second = keep_demo_key(resources)
    assert second.text != first.text
    assert why in second.note
    assert keep_demo_key(resources) == DemoKey(text=second.text)
    assert file.stat().st_mode & 0o777 == 0o600
    with resources.database.read() as session:
        assert find_key(session, second.text, now)
        assert (find_key(session, first.text, now) is None) == (damage == "revoked")


def test_another_vendors_key_in_the_demo_file_is_not_taken(resources: Resources) -> None:
    with resources.database.write() as session:
        other = create_vendor(session, "Another", resources.clock.now())
    file = resources.config.data_dir / FILE_NAME
    file.write_text(other.keys[EnvMode.TEST])
    assert keep_demo_key(resources).text != other.keys[EnvMode.TEST]


@pytest.mark.timeout(180)
def test_a_restart_changes_nothing_for_a_shop(tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        with run_service(tmp_path) as running:
            secret = running.run("webhooks", "listen", "--print-secret")
            listed = running.run("orders", "list", "--json")
            assert (secret.returncode, listed.returncode) == (0, 0), secret.stderr + listed.stderr
            seen.append((running.key, secret.stdout))
    assert len(set(seen)) == 1

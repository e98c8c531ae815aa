"""Keys, headers, rate limits, and what stays out of the log."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import structlog
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from api.domain.env import EnvMode
from api.domain.errors import Forbidden
from api.domain.scopes import ALL_SCOPES
from api.logs import REDACTED, configure_logging, redact
from api.services.resources import Resources
from api.services.vendors.api_keys import ApiKey, find_key, hash_key
from api.services.vendors.key_management import rotate_key
from api.storage.tables import ApiKeyRow
from tests.api.conftest import Merchant
from tests.api.probe import probe_app
from tests.support.redis_server import redis_server

Check = Callable[..., None]


@pytest.fixture
def probe(resources: Resources, standing: Callable[..., Flask]) -> FlaskClient:
    return standing("probe", resources, probe_app).test_client()


def limited(resources: Resources, **limits: Any) -> FlaskClient:
    return probe_app(replace(resources, config=replace(resources.config, **limits))).test_client()


@pytest.mark.rule("keys.8", "keys.9")
def test_only_the_hash_of_a_key_is_stored(resources: Resources, merchant: Merchant) -> None:
    text = merchant.vendor.keys[EnvMode.LIVE]
    assert re.fullmatch(r"sk_live_[A-Za-z0-9_-]{43}", text)
    with resources.database.read() as session:
        rows = session.scalars(select(ApiKeyRow)).all()
        assert {row.key_hash for row in rows} == {hash_key(key) for key in merchant.vendor.keys.values()}
        assert {row.last4 for row in rows} == {key[-4:] for key in merchant.vendor.keys.values()}
        assert not any(text in str(vars(row)) for row in rows)


@pytest.mark.rule("keys.1")
def test_a_key_says_who_calls_and_in_which_environment(probe: FlaskClient, merchant: Merchant) -> None:
    for env_mode in ("test", "live"):
        answer = probe.get("/v1/probe/private", headers=merchant.headers(env_mode)).get_json()
        assert answer == {"vendor": "Tea & Co", "vendor_id": merchant.id, "env_mode": env_mode}


@pytest.mark.rule("keys.2")
def test_two_vendors_are_two_callers(probe: FlaskClient, merchant: Merchant, other_merchant: Merchant) -> None:
    names = [
        probe.get("/v1/probe/private", headers=m.headers()).get_json()["vendor"] for m in (merchant, other_merchant)
    ]
    assert names == ["Tea & Co", "Rival Ltd"]


def test_a_missing_key_is_refused_before_the_body_is_looked_at(probe: FlaskClient, assert_error: Check) -> None:
    assert_error(probe.post("/v1/probe/private", data=b"{"), 401, {"X-Api-Key": "Required"})
    assert probe.get("/v1/probe/public").get_json() == {"vendor": None}


@pytest.mark.rule("keys.7")
@pytest.mark.parametrize(
    "text",
    [
        "x",
        "sk_test_",
        "sk_test_" + "a" * 43,
        "sk_prod_" + "a" * 43,
        "' OR 1=1 --",
        "ü",
        "sk_test_" + "é" * 43,
        "a" * 5000,
    ],
)
def test_a_wrong_key_is_refused_everywhere(probe: FlaskClient, assert_error: Check, text: str) -> None:
    for path in ("/v1/probe/public", "/v1/probe/private", "/v1/nothing"):
        response = probe.get(path, headers={"X-Api-Key": text.encode().decode("latin-1")})
        assert_error(response, 401, {"X-Api-Key": "Unknown or revoked key"})
        assert text not in response.get_data(as_text=True)


@pytest.mark.rule("keys.11")
def test_a_key_of_one_environment_can_not_act_in_the_other() -> None:
    key = ApiKey(key_id="key_1", vendor_id="ven_1", vendor_name="x", env_mode=EnvMode.TEST, scopes=ALL_SCOPES)
    key.require_env(EnvMode.TEST)
    with pytest.raises(Forbidden) as refusal:
        key.require_env(EnvMode.LIVE)
    assert [problem.path for problem in refusal.value.problems] == ["env_mode"]


@pytest.mark.rule("keys.12")
def test_rotation_leaves_two_keys_and_revoking_leaves_one(resources: Resources, merchant: Merchant) -> None:
    first = merchant.vendor.keys[EnvMode.TEST]

    def rotate(**options: bool) -> str:
        resources.clock.advance(seconds=1)  # type: ignore[attr-defined]  # the tests' clock moves
        with resources.database.write() as session:
            return rotate_key(session, (merchant.id, EnvMode.TEST), resources.clock.now(), **options).text

    def alive(*texts: str) -> list[bool]:
        with resources.database.read() as session:
            return [find_key(session, text, resources.clock.now()) is not None for text in texts]

    second = rotate()
    assert alive(first, second) == [True, True]
    third = rotate()
    assert alive(first, second, third) == [False, True, True]
    fourth = rotate(revoke_all=True)
    assert alive(first, second, third, fourth) == [False, False, False, True]
    assert alive(merchant.vendor.keys[EnvMode.LIVE]) == [True]


def test_every_answer_has_the_strict_headers(probe: FlaskClient) -> None:
    for path in ("/v1/probe/public", "/v1/nothing", "/healthz", "/openapi.json"):
        headers = probe.get(path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "script-src" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Strict-Transport-Security"].startswith("max-age=")
    assert probe.get("/v1/probe/public").headers["Cache-Control"] == "no-store"


def test_without_https_no_strict_transport(resources: Resources) -> None:
    client = limited(resources, base_url="http://127.0.0.1:8000")
    assert "Strict-Transport-Security" not in client.get("/healthz").headers


@pytest.mark.rule("limits.1", "limits.4", "limits.5")
def test_a_key_has_its_limit_and_says_so(resources: Resources, merchant: Merchant, assert_error: Check) -> None:
    client = limited(resources, rate_limit_key=3)
    answers = [client.get("/v1/probe/public", headers=merchant.headers()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"3"}
    assert_error(answers[-1], 429, {})
    assert all(1 <= int(answer.headers["RateLimit-Reset"]) <= 60 for answer in answers)
    assert answers[-1].headers["Retry-After"] == answers[-1].headers["RateLimit-Reset"]
    assert client.get("/v1/probe/public", headers=merchant.headers("live")).status_code == 200


@pytest.mark.rule("limits.3")
def test_without_a_key_the_address_is_counted(resources: Resources, merchant: Merchant) -> None:
    client = limited(resources, rate_limit_keyless=2)

    def status(address: str, **headers: str) -> int:
        environ = {"REMOTE_ADDR": address}
        return client.get("/v1/probe/public", headers=headers, environ_overrides=environ).status_code

    assert [status("198.51.100.1") for _ in range(3)] == [200, 200, 429]
    assert status("198.51.100.1", **{"X-Forwarded-For": "203.0.113.9"}) == 429
    assert status("198.51.100.2") == 200
    assert status("198.51.100.1", **merchant.headers()) == 200


def test_one_ipv6_customer_is_one_address(resources: Resources) -> None:
    client = limited(resources, rate_limit_keyless=2)
    addresses = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:2::3", "2001:db8:1:3::1"]
    statuses = [
        client.get("/v1/probe/public", environ_overrides={"REMOTE_ADDR": address}).status_code for address in addresses
    ]
    assert statuses == [200, 200, 429, 200]


def test_guessing_keys_is_slowed_down(resources: Resources) -> None:
    client = limited(resources, rate_limit_keyless=3)
    statuses = [
        client.get("/v1/probe/public", headers={"X-Api-Key": f"sk_test_{number:043}"}).status_code
        for number in range(5)
    ]
    assert statuses == [401, 401, 401, 429, 429]


@pytest.mark.rule("limits.2")
def test_routing_has_a_limit_of_its_own(resources: Resources, merchant: Merchant) -> None:
    client = limited(resources, rate_limit_routing=2, rate_limit_key=50)
    answers = [client.get("/v1/probe/public", headers=merchant.headers()) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].headers["RateLimit-Limit"] == "2"


def test_health_is_not_counted(resources: Resources) -> None:
    client = limited(resources, rate_limit_keyless=1)
    assert [client.get("/healthz").status_code for _ in range(5)] == [200] * 5


@pytest.fixture
def limits_redis() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A real Redis: its address, as Flask-Limiter spells it, and its process."""
    with redis_server() as (url, process):
        yield f"redis+{url}", process


def test_processes_share_their_limits_in_redis_and_survive_its_end(
    resources: Resources, merchant: Merchant, limits_redis: tuple[str, subprocess.Popen[bytes]]
) -> None:
    url, process = limits_redis
    clients = [limited(resources, rate_limit_key=4, redis_url=url) for _ in range(2)]
    statuses = [clients[n % 2].get("/v1/probe/public", headers=merchant.headers()).status_code for n in range(6)]
    assert statuses == [200, 200, 200, 200, 429, 429]
    process.kill()
    process.wait()
    statuses = [clients[0].get("/v1/probe/public", headers=merchant.headers()).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429]


def test_no_secret_reaches_the_log(
    resources: Resources, merchant: Merchant, capfd: pytest.CaptureFixture[str], restore_logging: None
) -> None:
    configure_logging("DEBUG")
    client = probe_app(resources).test_client()
    text = merchant.vendor.keys[EnvMode.TEST]
    client.get("/v1/probe/private", headers=merchant.headers())
    client.get(f"/v1/{text}")
    client.get("/v1/probe/refuse/unknown", headers=merchant.headers() | {"X-Request-Id": "seen"})
    logging.getLogger("library").error("sent %s and %s", text, "whsec_" + "A" * 32)
    written = capfd.readouterr().err
    lines = [json.loads(line) for line in written.splitlines()]
    assert text[8:] not in written
    assert "A" * 32 not in written
    assert any(line["event"] == "request" and line["vendor_id"] == merchant.id for line in lines)
    assert any(line.get("request_id") == "seen" and "KeyError" in line.get("exception", "") for line in lines)
    assert any(line["event"] == f"sent sk_test_{REDACTED} and whsec_{REDACTED}" for line in lines)


@pytest.mark.parametrize(
    ("event", "clean"),
    [
        ({"api_key": "x"}, {"api_key": REDACTED}),
        ({"X-Api-Key": "x", "n": 1}, {"X-Api-Key": REDACTED, "n": 1}),
        ({"headers": {"Authorization": "Bearer x", "ok": "y"}}, {"headers": {"Authorization": REDACTED, "ok": "y"}}),
        ({"previous_secret": "x"}, {"previous_secret": REDACTED}),
        ({"rows": ["sk_live_abc", 3]}, {"rows": [f"sk_live_{REDACTED}", 3]}),
        ({"url": "postgresql://me:pw@host/db"}, {"url": f"postgresql://{REDACTED}@host/db"}),
    ],
)
def test_redaction(event: dict[str, Any], clean: dict[str, Any]) -> None:
    assert redact(event) == clean


@pytest.mark.parametrize(
    "path", ["/payment//x", "/payment/x//status", "/static//payment/main.js", "/payment/x/", "//x"]
)
def test_no_answer_repeats_the_host_that_a_caller_claims(client: FlaskClient, path: str) -> None:
    claims = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    answer = client.get(path, headers=claims)
    assert answer.status_code == 404
    assert "evil" not in answer.text + str(answer.headers)


@pytest.mark.parametrize(
    "path", ["/nothing", "/static/payment/main.0.js", "/brand/x.png", "/brand/x.css", "/payment/x", "/payment/x/y"]
)
def test_no_cache_keeps_that_something_is_not_there(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")


@pytest.mark.rule("keys.9")
def test_the_hash_of_a_key_is_sha_256(resources: Resources, merchant: Merchant) -> None:
    expected = {hashlib.sha256(key.encode()).hexdigest() for key in merchant.vendor.keys.values()}
    with resources.database.read() as session:
        assert set(session.scalars(select(ApiKeyRow.key_hash))) == expected


@pytest.mark.rule("keys.8")
def test_a_key_has_256_random_bits(resources: Resources, merchant: Merchant) -> None:
    owner, seen = (merchant.id, EnvMode.TEST), []
    for _ in range(100):
        resources.clock.advance(seconds=1)  # type: ignore[attr-defined]  # the tests' clock moves
        with resources.database.write() as session:
            text = rotate_key(session, owner, resources.clock.now()).text
        seen.append(base64.urlsafe_b64decode(text.removeprefix("sk_test_") + "="))
    assert {len(key) for key in seen} == {32}
    for position in range(32):
        assert len({key[position] for key in seen}) > 50, "each byte is drawn anew"


@pytest.mark.parametrize(
    ("event", "kind", "section"),
    [
        ("database_unavailable", "OperationalError Connection refused", "The database is away"),
        ("leases_unavailable", "DiskFull 53100", "The disk is full"),
        ("chain_unavailable", "X", "A chain is not read"),
    ],
)
def test_the_log_of_an_outage_names_what_to_do(
    event: str, kind: str, section: str, capfd: pytest.CaptureFixture[str], restore_logging: None
) -> None:
    configure_logging("INFO")
    structlog.get_logger("x").warning(event, kind=kind)
    structlog.get_logger("x").warning("other")
    told, other = map(json.loads, capfd.readouterr().err.splitlines())
    assert told["remedy"].startswith("`checkout doctor` ")
    assert told["remedy"].endswith(f"; runbook.md, {section}")
    assert "remedy" not in other

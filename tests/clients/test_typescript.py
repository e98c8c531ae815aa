"""The TypeScript client: compiled strictly, then run by node, without a network and against the service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.document_samples import list_samples
from tests.clients.generation.service_document import read_service_document
from tests.clients.generation.typescript import run_node
from tests.clients.test_python_webhooks import BODY, NOW, OTHER, SECRET, sign
from tests.support.running import RunningService

pytestmark = [pytest.mark.xdist_group("clients"), pytest.mark.timeout(240)]
UNREADABLE = ("[]", "{}", "no json", '{"event": {"type": 1}}')


def assert_tests_pass(package: Path, name: str, **settings: str) -> None:
    said = run_node("--test", "--test-reporter=tap", f"test/{name}.test.mjs", cwd=package, **settings)
    assert "# fail 0" in said
    assert "# pass 0" not in said


def test_it_asks_reads_and_tries_again(package: Path) -> None:
    (package / "samples.json").write_text(json.dumps(list_samples(read_service_document())))
    assert_tests_pass(package, "client", SAMPLES=str(package / "samples.json"))


def test_it_refuses_what_is_given_wrongly(package: Path) -> None:
    assert_tests_pass(package, "checks")


def test_it_tells_deliveries_of_the_service_from_others(package: Path) -> None:
    headers = {name.lower(): value for name, value in sign().items()}
    deliveries = {
        "body": BODY, "secret": SECRET, "other": OTHER, "headers": headers, "at": int(NOW.timestamp()),
        "signatures": {"secret": headers["webhook-signature"], "other": sign(secret=OTHER)["webhook-signature"]},
        "unreadable": [{"body": body, "signature": sign(body)["webhook-signature"]} for body in UNREADABLE],
    }  # fmt: skip
    (package / "deliveries.json").write_text(json.dumps(deliveries))
    assert_tests_pass(package, "webhooks", DELIVERIES=str(package / "deliveries.json"))


def test_it_works_with_the_service(package: Path, service: RunningService) -> None:
    assert_tests_pass(package, "service", CHECKOUT_URL=service.url, CHECKOUT_API_KEY=service.key)

"""Prometheus with the files of `deploy` sees the service, and wakes somebody when no worker works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.deploy.conftest import TOKEN, Processes, make_environment
from tests.deploy.files import read, replace_all
from tests.deploy.test_schemas import list_queries
from tests.support.redis_server import redis_server
from tests.support.running import find_free_port
from tests.support.servers import answers, get_program, run_server, wait_until

pytestmark = pytest.mark.xdist_group("deploy")


SHARES = {"chains/test", "webhooks/0", "webhooks/3", "expiry"}


def find_firing(prometheus: str) -> dict[str, dict[str, Any]]:
    alerts = requests.get(f"{prometheus}/api/v1/alerts", timeout=5).json()["data"]["alerts"]
    return {
        each["labels"].get("duty") or each["labels"]["alertname"]: each for each in alerts if each["state"] == "firing"
    }


def write_files(folder: Path, port: int) -> Path:
    """Write Prometheus's files with the port of one process, and with a clock that runs faster."""
    (folder / "checkout.token").write_text(TOKEN)
    (folder / "alerts.yml").write_text(re.sub(r"for: \d+[sm]", "for: 1s", read("prometheus/alerts.yml")))
    text = replace_all(
        read("prometheus/prometheus.yml"),
        {
            "/etc/prometheus/checkout.token": str(folder / "checkout.token"),
            '"127.0.0.1:8001", "127.0.0.1:8002"': f'"127.0.0.1:{port}"',
            "scrape_interval: 15s, evaluation_interval: 15s": "scrape_interval: 1s, evaluation_interval: 1s",
        },
    )
    (folder / "prometheus.yml").write_text(text)
    return folder / "prometheus.yml"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is to end with the test."""
    with ExitStack() as opened:
        yield opened


@pytest.mark.timeout(240)
def test_an_alert_fires_without_a_worker_and_ends_with_one(tmp_path: Path, stack: ExitStack) -> None:
    port, own = find_free_port(), find_free_port()
    redis = stack.enter_context(redis_server())
    environment = make_environment(
        DATA_DIR=str(tmp_path / "data"), PORT=str(port), METRICS_TOKEN=TOKEN, REDIS_URL=f"redis+{redis[0]}"
    )
    processes = Processes(environment, tmp_path / "log")
    prometheus = f"http://127.0.0.1:{own}"
    command = [
        get_program("prometheus"), f"--config.file={write_files(tmp_path, port)}",
        f"--storage.tsdb.path={tmp_path}/tsdb",
        f"--web.listen-address=127.0.0.1:{own}", "--log.level=warn",
    ]  # fmt: skip
    try:
        processes.run("db", "upgrade")
        processes.start("serve")
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz/api"), "the service is ready")
        with run_server(command, tmp_path / "prometheus.log", lambda: answers(f"{prometheus}/-/ready")):
            wait_until(lambda: set(find_firing(prometheus)) >= SHARES, "somebody is woken")
            fired = find_firing(prometheus)
            assert fired["chains/test"]["labels"] == {
                "alertname": "CheckoutDutyLapsed",
                "duty": "chains/test",
                "severity": "page",
            }
            assert fired["chains/test"]["annotations"]["summary"] == "No worker does chains/test"
            assert "CheckoutDown" not in fired
            processes.start("worker")
            lapsed = "max(checkout_duty_lapsed_seconds)"
            wait_until(
                lambda: [row["value"][1] for row in ask(prometheus, lapsed)] == ["0"], "a worker does everything"
            )
            wait_until(lambda: not SHARES & set(find_firing(prometheus)), "all is well")
            found = {query for query in list_queries() if ask(prometheus, query)}
            assert 'sum(up{job="checkout"})' in found
            assert len(found) >= 8
            assert "CheckoutRedisAway" not in find_firing(prometheus)
            redis[1].kill()
            wait_until(lambda: "CheckoutRedisAway" in find_firing(prometheus), "somebody hears of Redis")
    finally:
        processes.end()


def ask(prometheus: str, query: str) -> list[Any]:
    answer = requests.get(f"{prometheus}/api/v1/query", params={"query": query}, timeout=5)
    assert answer.status_code == 200, json.dumps(answer.json())
    result: list[Any] = answer.json()["data"]["result"]
    return result

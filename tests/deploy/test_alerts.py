"""Prometheus and Alertmanager with the files of `deploy` see the service, and wake somebody once for one cause."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.deploy.conftest import TOKEN, Processes, make_environment
from tests.deploy.files import DEPLOY, read, replace_all
from tests.deploy.test_schemas import list_queries
from tests.support.redis_server import redis_server
from tests.support.running import find_free_port
from tests.support.servers import answers, get_program, run_server, wait_until

pytestmark = pytest.mark.xdist_group("deploy")


def find_firing(prometheus: str) -> dict[str, dict[str, Any]]:
    alerts = requests.get(f"{prometheus}/api/v1/alerts", timeout=5).json()["data"]["alerts"]
    return {each["labels"]["alertname"]: each for each in alerts if each["state"] == "firing"}


def write_files(folder: Path, port: int, pager: str, alertmanager: int) -> Path:
    """Write the files with the port of one process, one who is woken, and a clock that runs faster."""
    changes = {"https://pager.change-me.example/": pager, "group_wait: 30s": "group_wait: 2s"}
    (folder / "alertmanager.yml").write_text(replace_all(read("prometheus/alertmanager.yml"), changes))
    (folder / "checkout.token").write_text(TOKEN)
    (folder / "alerts.yml").write_text(re.sub(r"for: \d+[sm]", "for: 1s", read("prometheus/alerts.yml")))
    text = replace_all(
        read("prometheus/prometheus.yml"),
        {
            "/etc/prometheus/checkout.token": str(folder / "checkout.token"),
            '"127.0.0.1:8001", "127.0.0.1:8002"': f'"127.0.0.1:{port}"',
            "127.0.0.1:9093": f"127.0.0.1:{alertmanager}",
            "_interval: 15s": "_interval: 1s",
            "scrape_timeout: 14s": "scrape_timeout: 1s",
        },
    )
    (folder / "prometheus.yml").write_text(text)
    return folder / "prometheus.yml"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is to end with the test."""
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def run_watching(tmp_path: Path, stack: ExitStack) -> Callable[[int], tuple[str, list[dict[str, Any]]]]:
    """Run Prometheus and Alertmanager; return the former's address, and the messages that wake somebody."""

    def run(port: int) -> tuple[str, list[dict[str, Any]]]:
        own, manager, woken = find_free_port(), find_free_port(), list[dict[str, Any]]()
        pager = stack.enter_context(HTTPServer(threaded=True))

        def hear(asked: Request) -> Response:
            woken.append(asked.get_json())
            return Response()

        pager.expect_request("/").respond_with_handler(hear)
        prometheus, alertmanager = f"http://127.0.0.1:{own}", f"http://127.0.0.1:{manager}"
        config = write_files(tmp_path, port, pager.url_for("/"), manager)
        commands = {
            prometheus: [
                get_program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/tsdb",
                f"--web.listen-address=127.0.0.1:{own}", "--log.level=warn",
            ],
            alertmanager: [
                get_program("prometheus-alertmanager"), f"--config.file={tmp_path}/alertmanager.yml",
                f"--storage.path={tmp_path}/told", f"--web.listen-address=127.0.0.1:{manager}",
                "--cluster.listen-address=", "--log.level=warn",
            ],
        }  # fmt: skip
        for url, command in commands.items():
            is_ready = partial(answers, f"{url}/-/ready")
            stack.enter_context(run_server(command, tmp_path / f"{Path(command[0]).name}.log", is_ready))
        return prometheus, woken

    return run


@pytest.mark.timeout(300)
def test_somebody_is_woken_once_without_a_worker_and_left_alone_with_one(
    tmp_path: Path, stack: ExitStack, run_watching: Callable[[int], tuple[str, list[dict[str, Any]]]]
) -> None:
    port = find_free_port()
    redis = stack.enter_context(redis_server())
    environment = make_environment(
        DATA_DIR=str(tmp_path / "data"), PORT=str(port), METRICS_TOKEN=TOKEN, REDIS_URL=f"redis+{redis[0]}"
    )
    processes = Processes(environment, tmp_path / "log")
    stack.callback(processes.end)
    processes.run("db", "upgrade")
    processes.start("serve")
    wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz/api"), "the service is ready")
    prometheus, woken = run_watching(port)
    lapsed = "max(checkout_duty_lapsed_seconds)"
    wait_until(lambda: len(woken) > 0, "somebody is woken")
    assert len(ask(prometheus, "max by (duty) (checkout_duty_lapsed_seconds) > 15")) == 8
    fired = find_firing(prometheus)
    assert {name for name, each in fired.items() if each["labels"]["severity"] == "page"} == {"CheckoutNoWorker"}
    assert [each["groupLabels"] for each in woken] == [{"alertname": "CheckoutNoWorker"}]
    assert woken[0]["alerts"][0]["annotations"]["runbook"] == "runbook.md#no-worker-works"
    processes.start("worker")
    wait_until(lambda: [row["value"][1] for row in ask(prometheus, lapsed)] == ["0"], "a worker does everything")
    wait_until(lambda: not find_firing(prometheus), "all is well")
    found = {query for query in list_queries() if ask(prometheus, query)}
    assert 'sum(up{job="checkout"})' in found
    assert len(found) >= 8
    hung = processes.start("worker")
    silent = "checkout_worker_silent_seconds"
    wait_until(lambda: len(ask(prometheus, silent)) == 2, "both workers are known")
    hung.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: "CheckoutWorkerSilent" in find_firing(prometheus), "somebody hears of the one that hangs")
        (told,) = (name for name in find_firing(prometheus) if name != "CheckoutRedisAway")
        assert told == "CheckoutWorkerSilent"
        assert find_firing(prometheus)[told]["labels"]["worker"].endswith(f" {hung.pid}")
    finally:
        hung.send_signal(signal.SIGCONT)
    wait_until(lambda: not find_firing(prometheus), "it is heard of again")
    redis[1].kill()
    wait_until(lambda: "CheckoutRedisAway" in find_firing(prometheus), "somebody hears of Redis")


def test_pages_go_to_the_pager_and_tickets_wait() -> None:
    """Asked of Alertmanager's own tool, which also refuses a file that Alertmanager would not take."""
    file = DEPLOY / "prometheus" / "alertmanager.yml"
    for severity, receiver in (("page", "pager"), ("ticket", "tickets"), ("", "pager")):
        command = [get_program("amtool"), "config", "routes", "test", f"--config.file={file}", f"severity={severity}"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == receiver


def ask(prometheus: str, query: str) -> list[Any]:
    answer = requests.get(f"{prometheus}/api/v1/query", params={"query": query}, timeout=5)
    assert answer.status_code == 200, json.dumps(answer.json())
    result: list[Any] = answer.json()["data"]["result"]
    return result

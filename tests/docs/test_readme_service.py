"""The README's commands against the service that `make serve` starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (curl .*?)(?=^\$|^```)", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Start what `make serve` starts; give the variables that the README's commands name."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(sys.executable).parent / "checkout"
    arguments = ["up", "--port", str(port), "--data-dir", str(tmp_path_factory.mktemp("data"))]
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    shown = ""
    while "Ctrl-C" not in shown and (line := process.stdout.readline()):
        shown += line
    found = re.search(r"API:\s+(\S+).*?key:\s+(sk_test_\S+).*?page:\s+\S+/payment/(po_\S+)", shown, re.DOTALL)
    assert found, shown
    yield dict(zip(("BASE", "KEY", "ORDER"), found.groups(), strict=True))
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    assert process.wait(30) == 0


def run(command: str, variables: dict[str, str]) -> Any:
    """Run a command of the README in a shell and parse what it prints."""
    shell = shutil.which("bash")
    assert shell
    done = subprocess.run(
        [shell, "-c", command], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.rule("service.1", "orders.1")
@pytest.mark.timeout(180)
def test_the_commands_of_the_service_run(service: dict[str, str]) -> None:
    create, read, simulate, quote = COMMANDS
    link = run(create, service)
    assert link["payment_url"] == f"{service['BASE']}/payment/{link['payment_order_id']}"
    order = service | {"ORDER": link["payment_order_id"]}
    assert run(read, order)["payment_order_status"] == "created"
    assert run(simulate, order)["payment_order_id"] == link["payment_order_id"]
    assert int(run(quote, service)["toAmount"]) > 900_000_000
    page = run('curl -s -o /dev/null -w "%{http_code}" $BASE/payment/$ORDER', order)
    assert page == 200

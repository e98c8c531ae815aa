"""The README's commands against the service that `make serve` starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import RunningService

pytestmark = pytest.mark.xdist_group("guide")
README = (Path(__file__).parents[2] / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (curl .*?)(?=^\$|^```)", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def service(guide_service: RunningService) -> dict[str, str]:
    """Return the variables that the README's commands name."""
    found = re.search(r"page:\s+\S+/payment/(po_\S+)", guide_service.welcome)
    assert found, guide_service.welcome
    return {"BASE": guide_service.url, "KEY": guide_service.key, "ORDER": found[1]}


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

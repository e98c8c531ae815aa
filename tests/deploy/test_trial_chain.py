"""A payment on a chain of one's own, by the commands of docs/deployment.md as they stand there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.deploy.conftest import make_environment
from tests.deploy.files import ROOT, replace_all
from tests.support.anvil import anvil_binary
from tests.support.running import find_free_port
from tests.support.servers import PATIENCE_S, wait_until

SECTION = re.compile(r"^### 9\. .*?(?=^## )", re.M | re.S)


def read_section() -> str:
    """Return the section that leads to such a payment."""
    (found,) = SECTION.findall((ROOT / "docs" / "deployment.md").read_text(encoding="utf-8"))
    return str(found)


def write_script(folder: Path) -> str:
    """Return what the section has one type, from the first line to the last, with ports and a folder of this test's."""
    section = read_section()
    service, customer = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    (mine,) = re.findall(r"`(curl [^`]*anvil_mine[^`]*)`", section)
    (end,) = re.findall(r"`(kill [^`]*)`", section)
    typed = f"{service}{customer}\n{mine}\ncheckout orders show $order --wait success\n{end}\n"
    changes = {
        "--port 8545": f"--port {(chain := find_free_port())}",
        "127.0.0.1:8545": f"127.0.0.1:{chain}",
        "PORT=8011": f"PORT={(port := find_free_port())}",
        "127.0.0.1:8011": f"127.0.0.1:{port}",
        "DATA_DIR=/tmp/trial": f"DATA_DIR={folder}/trial",
        'vendors create "Tea & Co"': f'vendors create "Tea & Co" | tee {folder}/vendor',
        "sk_test_…": f"$(grep -o 'sk_test_[A-Za-z0-9_-]*' {folder}/vendor)",
    }
    return f"set -eu\n{replace_all(typed, changes)}wait\n"


@pytest.mark.timeout(300)
def test_a_payment_on_a_chain_of_ones_own_succeeds_by_the_commands_of_the_document(tmp_path: Path) -> None:
    folders = (str(Path(sys.executable).parent), str(anvil_binary().parent), os.environ["PATH"])
    environment, shown = make_environment(PATH=os.pathsep.join(folders)), tmp_path / "shown"
    with shown.open("wb") as told:
        shell = subprocess.Popen(
            ["bash", "-c", write_script(tmp_path)],
            env=environment, cwd=ROOT, stdout=told, stderr=told, start_new_session=True,
        )  # fmt: skip
    try:
        wait_until(lambda: shell.poll() is not None, "all is typed")
    finally:
        with suppress(ProcessLookupError):  # nothing is left behind, whatever failed
            os.killpg(shell.pid, signal.SIGTERM)
        shell.wait(PATIENCE_S)
    states = re.findall(r"^status: +(\S+)$", shown.read_text(), re.MULTILINE)
    assert (shell.returncode, states[-2:]) == (0, ["processing", "success"]), shown.read_text()

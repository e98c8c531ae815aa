"""What the README says is run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from adapters.base import BadPayload
from adapters.feed.feed import refresh
from adapters.testing import ReplayClient, check_adapter
from api.settings import SETTINGS
from routing_engine.reference import token_registry

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ (routing-engine .*)$", README, re.MULTILINE)


def test_the_example_of_the_library_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(PYTHON[0], "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    paths = [line for line in lines if line.startswith("WETH@1 -[")]
    shown = lines[len(paths) :]
    assert lines[0] == paths[0]
    assert all(path.endswith("-> USDC@8453") for path in paths)
    gross, net = map(int, shown[0].split())
    assert gross > net > 0
    assert 0 < int(shown[-1]) < 10**18
    assert len(PYTHON[0].strip().splitlines()) <= 15


ADAPTER = PYTHON[1]
TOKENS = tuple(sorted((token_registry.token(each, 1) for each in ("USDC", "WETH")), key=lambda token: token.address))
POOL = {
    "pool": "0x" + "ab" * 20,
    "token0": TOKENS[0].address,
    "token1": TOKENS[1].address,
    "reserve0": "3500000000000",
    "reserve1": "1000000000000000000000",
}
UNLISTED = POOL | {"pool": "0x" + "cd" * 20, "token0": "0x" + "ef" * 20}


@pytest.fixture
def adapter() -> Any:
    """What the example defines."""
    names: dict[str, Any] = {"__name__": "my_package"}
    exec(compile(ADAPTER, "README.md", "exec"), names)
    return names["MyDexAdapter"]


def test_the_example_of_an_adapter_conforms(adapter: Any) -> None:
    answers = {f"{adapter.url}/pools": [POOL, UNLISTED]}
    (market,) = check_adapter(lambda client: adapter(client, TOKENS), answers).markets
    assert (market.id, market.protocol) == (f"1:{POOL['pool']}", "my_dex")
    bad = adapter(ReplayClient({f"{adapter.url}/pools": [POOL | {"reserve0": "many"}]}), TOKENS)
    assert refresh([bad]).degraded
    with pytest.raises(BadPayload, match=r"my_dex\[0\]: reserve0 must be"):
        bad.parse(bad.fetch())


def test_its_line_makes_it_known_to_the_command(tmp_path: Path) -> None:
    """Installed beside the tree, as another package is; its service is on this machine."""
    (line,) = re.findall(r"group `(routing_engine\.adapters)`, `(my_dex = my_package:MyDexAdapter)`", README)
    (command,) = re.findall(r"`routing-engine (adapters --check my_dex)`", README)
    with serving({"/pools": [POOL]}) as url:
        (tmp_path / "my_package.py").write_text(ADAPTER.replace("https://api.my-dex.example", url))
        metadata = tmp_path / "my_package-1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1\n")
        (metadata / "entry_points.txt").write_text("[{}]\n{}\n".format(*line))
        program = Path(sys.executable).parent / "routing-engine"
        environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
        done = subprocess.run(
            [program, *command.split(), "--format", "json"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    (checked,) = json.loads(done.stdout)["checked"]
    assert (checked["name"], checked["markets"], checked["trouble"]) == ("my_dex", 1, "")


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[str]:
    """Serve documents as JSON; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answers[self.path]).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(command: str) -> None:
    program = Path(sys.executable).parent / "routing-engine"
    done = subprocess.run([program, *shlex.split(command)[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_two_commands_exist_and_links_lead_somewhere() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r"^\$ make (\w+)", README, re.MULTILINE) == ["serve", "test"]
    assert "\nserve:" in makefile
    assert "\ntest:" in makefile
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_setting_is_one_that_the_service_reads() -> None:
    named = re.search(r"^Settings are environment variables.*$", README, re.MULTILINE)
    assert named is not None
    settings = re.findall(r"`([A-Z_]+)`", named[0])
    assert len(settings) >= 5
    assert set(settings) <= set(SETTINGS)

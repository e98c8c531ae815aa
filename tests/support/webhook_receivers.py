"""The guide's receivers of webhooks, run as it says, and what is tried with them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import requests

from tests.support.npm_tools import name_environment
from tests.support.running import find_free_port

SNIPPETS = Path(__file__).parents[2] / "docs" / "guide" / "snippets"
PATIENCE_S = 30.0
TOLERANCE_S = 300
EMPTY_SECRET = "whsec_"


@dataclass(frozen=True)
class Delivery:
    """One request of the service, with the secret that has signed it."""

    body: bytes
    id: str
    timestamp: str
    signature: str
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers that are there; an empty one is none."""
        named = {"id": self.id, "timestamp": self.timestamp, "signature": self.signature}
        return {f"webhook-{name}": value for name, value in named.items() if value}

    def sign(self, **changes: object) -> Delivery:
        """Return another delivery with a signature of its own."""
        changed = replace(self, **changes)
        key = base64.b64decode(changed.secret.removeprefix("whsec_"))
        signed = b".".join((changed.id.encode(), changed.timestamp.encode(), changed.body))
        digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return replace(changed, signature=f"v1,{digest}")


def list_forged(real: Delivery) -> Iterator[tuple[str, Delivery]]:
    """Yield what a receiver has to refuse, by name."""
    now = int(time.time())
    other = base64.b64encode(b"another secret of 32 bytes here!").decode()
    yield "an altered body", replace(real, body=real.body.replace(b"success", b"expired"))
    yield "a body with a space more", replace(real, body=real.body + b" ")
    yield "no body", replace(real, body=b"")
    yield "another secret", real.sign(secret=f"whsec_{other}")
    yield "another id", replace(real, id=f"{real.id}0")
    yield "another moment", replace(real, timestamp=str(int(real.timestamp) + 1))
    yield "an old delivery", real.sign(timestamp=str(now - TOLERANCE_S - 5))
    yield "one from the future", real.sign(timestamp=str(now + TOLERANCE_S + 30))
    yield "a moment that is no number", real.sign(timestamp=f"{now}e0")
    yield "no id", real.sign(id="")
    yield "no moment", real.sign(timestamp="")
    yield "no signature", replace(real, signature="")
    yield "an empty signature", replace(real, signature="v1,")
    yield "half a signature", replace(real, signature=real.signature[:20])
    yield "a signature of another version", replace(real, signature=real.signature.replace("v1,", "v2,"))
    yield "a signature without a version", replace(real, signature=real.signature.removeprefix("v1,"))
    yield "the empty secret's signature", real.sign(secret=EMPTY_SECRET)


def list_real(real: Delivery) -> Iterator[tuple[str, Delivery]]:
    """Yield what a receiver has to take."""
    wrong = real.sign(secret=f"whsec_{base64.b64encode(bytes(32)).decode()}").signature
    yield "as it came", real
    yield "a second time", real
    yield "signed with the next secret too", replace(real, signature=f"{wrong} {real.signature}")
    yield "signed with the last secret too", replace(real, signature=f"{real.signature} {wrong}")


def write_python(port: int, folder: Path) -> list[str]:
    """Return the command that runs the receiver in Python."""
    return [sys.executable, str(SNIPPETS / "receive.py")]


def write_javascript(port: int, folder: Path) -> list[str]:
    """Return the command that runs the receiver in JavaScript."""
    return ["node", str(SNIPPETS / "receive.mjs")]


def write_php(port: int, folder: Path) -> list[str]:
    """Return the command that runs the receiver in PHP."""
    return ["php", "-S", f"127.0.0.1:{port}", str(SNIPPETS / "receive.php")]


def write_go(port: int, folder: Path) -> list[str]:
    """Compile the receiver in Go; return the command that runs it."""
    program = folder / "receive"
    environment = os.environ | {"GOCACHE": str(folder / "cache"), "GOFLAGS": "", "HOME": str(folder)}
    command = ["go", "build", "-o", str(program), str(SNIPPETS / "receive.go")]
    subprocess.run(command, env=environment, check=True, timeout=240)
    return [str(program)]


COMMANDS: Mapping[str, Callable[[int, Path], list[str]]] = {
    "python": write_python,
    "javascript": write_javascript,
    "php": write_php,
    "go": write_go,
}


@contextmanager
def run_receiver(command: list[str], port: int, secret: str, output: Path) -> Iterator[None]:
    """Run a receiver until the end of the block, printing into a file; it listens when this yields."""
    environment = name_environment() | {"WEBHOOK_SECRET": secret, "PORT": str(port)}
    with output.open("w") as printed:
        process = subprocess.Popen(command, env=environment, stdout=printed, stderr=subprocess.DEVNULL, text=True)
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/", process)
            yield
        finally:
            for each in psutil.Process(process.pid).children(recursive=True):
                each.kill()  # `node` of the wheel is a script that runs node
            process.kill()
            process.wait()


def wait_for_answer(url: str, process: subprocess.Popen[str] | None = None) -> None:
    """Wait until a program of this machine answers, whatever it answers."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and (process is None or process.poll() is None):
        try:
            requests.get(url, timeout=PATIENCE_S)
        except requests.ConnectionError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"Nothing answers at {url}")


def check_receiver(language: str, real: Delivery, folder: Path) -> None:
    """Assert that a receiver takes what the service has sent, and nothing else."""
    port, output = find_free_port(), folder / "printed"
    with run_receiver(COMMANDS[language](port, folder), port, real.secret, output):
        for name, each in list_real(real):
            assert _post(port, each) == 204, name
        for name, each in list_forged(real):
            assert _post(port, each) == 400, name
    taken = [line for line in output.read_text().splitlines() if line.startswith("payment_")]
    assert taken == [taken[0]] * len(list(list_real(real)))
    assert len(taken[0].split()) == 3
    port = find_free_port()
    with run_receiver(COMMANDS[language](port, folder), port, EMPTY_SECRET, output):
        assert _post(port, real.sign(secret=EMPTY_SECRET)) == 400, "without a secret anybody can sign"


def _post(port: int, delivery: Delivery) -> int:
    url = f"http://127.0.0.1:{port}/webhooks"
    return requests.post(url, data=delivery.body, headers=delivery.headers, timeout=PATIENCE_S).status_code

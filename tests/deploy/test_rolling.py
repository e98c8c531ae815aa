"""A rolling upgrade under load: the schema grows, every process is replaced, and no customer's request fails.

What a process was asked before it was told to end is answered. One that is killed instead answers nothing any more: its
callers get 502 from the proxy, and their order once they repeat it with its key.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.deploy.conftest import Processes, make_environment
from tests.deploy.files import DEPLOY, ROOT, write_nginx
from tests.deploy.test_proxies import LINK, ask
from tests.support.running import find_free_port
from tests.support.servers import answers, get_program, run_server, wait_until

pytestmark = pytest.mark.xdist_group("deploy")
NEXT = '''"""A column, an index and a table more, and something of each order that is there."""

import sqlalchemy as sa
from alembic import op

revision = '0999'
down_revision = '{before}'
branch_labels = None
depends_on = None
oldest = '{before}'


def upgrade() -> None:
    op.add_column('payment_orders', sa.Column('note', sa.String(length=40), server_default='', nullable=False))
    op.execute("UPDATE payment_orders SET note = status")
    op.create_index('ix_payment_orders_note', 'payment_orders', ['note'])
    op.create_table('notes', sa.Column('id', sa.String(length=40), primary_key=True))


def downgrade() -> None:
    op.drop_table('notes')
    op.drop_index('ix_payment_orders_note')
    op.drop_column('payment_orders', 'note')
'''
RESTART = """#!/bin/sh
# What `systemctl restart checkout-serve@PORT` does, with the next version.
set -eu
port=${1#checkout-serve@}
old=$(cat "$STATE/$port.pid")
touch "$STATE/$port.ending"
while [ ! -e "$STATE/$port.begun" ]; do sleep 0.1; done
kill -TERM "$old"
touch "$STATE/$port.told"
while [ -d "/proc/$old" ] && ! grep -q '^State:.Z' "/proc/$old/status"; do sleep 0.1; done
cd "$NEXT"
"$PYTHON" -m api.cli serve --port "$port" >>"$STATE/log" 2>&1 &
echo $! >"$STATE/$port.pid"
"""
SELLERS = 2
PAUSE_S = 0.05
"""Between the orders of a seller: without a pause, sellers leave little for processes that start."""
KILLED = 4
"""Orders that are asked for while one of the two processes is killed; each process of the proxy's has them in turn."""
MORE = 5
"""Orders after each step."""


def make_next_version(folder: Path) -> Path:
    """Return a tree whose service is this one's, and a migration further; the engine is this one itself."""
    versions = ROOT / "api" / "storage" / "migrations" / "versions"
    newest = max(path.name[:4] for path in versions.glob("[0-9]*.py"))
    shutil.copytree(ROOT / "api", folder / "api")
    path = folder / versions.relative_to(ROOT) / "0999_notes.py"
    path.write_text(NEXT.format(before=newest))
    return folder


def ask_while_it_ends(state: Path, port: int, key: str) -> int:
    """Begin an order before a process is told to end, and send its rest afterwards; return the answer's status."""
    wait_until((state / f"{port}.ending").exists, f"{port} is about to be told to end")
    body = json.dumps(LINK).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line, line.makefile("rb") as answer:
        head = "POST /api/v1/payment_link HTTP/1.1", f"Host: 127.0.0.1:{port}", f"X-Api-Key: {key}"
        more = "Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue"
        line.sendall("\r\n".join((*head, *more, "\r\n")).encode())
        assert b" 100 " in answer.readline(), "it reads the body"
        answer.readline()
        line.sendall(body[:-1])
        (state / f"{port}.begun").touch()
        wait_until((state / f"{port}.told").exists, f"{port} is told to end")
        line.sendall(body[-1:])
        return int(answer.readline().split()[1])


class Load:
    """Customers and shops, who never stop."""

    def __init__(self, address: str, key: str) -> None:
        self._address, self._key = address, key
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._sell) for _ in range(SELLERS)]
        self.acknowledged: list[str] = []
        self.answered = 0
        self.failed: list[Any] = []

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let everybody come to an end."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _sell(self) -> None:
        own = {"X_Api_Key": self._key, "Content_Type": "application/json"}
        while not self._stopping.wait(PAUSE_S):
            body = self._ask("POST", "/api/v1/payment_link", json.dumps(LINK).encode(), **own)
            if body is None:
                continue
            order = json.loads(body)["payment_order_id"]
            self.acknowledged.append(order)
            for path in (f"/payment/{order}", f"/api/v1/payment/{order}"):
                self._ask("GET", path, **own)

    def _ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> bytes | None:
        try:
            status, text = ask(self._address, method, path, body, **headers)
        except OSError as error:
            self.failed.append((path, repr(error)))
            return None
        self.answered += 1
        if status != 200:
            self.failed.append((path, status, text[:300]))
            return None
        return text


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_no_request_fails_while_a_migration_runs_and_every_process_is_replaced(
    dialect: str, make_database_url: Callable[[str], str], tmp_path: Path
) -> None:
    ports = find_free_port(), find_free_port()
    plain, tls = find_free_port(), find_free_port()
    environment = make_environment(
        DATABASE_URL=make_database_url(dialect), DATA_DIR=str(tmp_path / "data"), FORWARDED_ALLOW_IPS="127.0.0.1",
        RATE_LIMIT_KEY="1000000", RATE_LIMIT_PAGE="1000000", LOG_LEVEL="WARNING",
    )  # fmt: skip
    processes = Processes(environment, tmp_path / "log")
    tree = make_next_version(tmp_path / "next")
    own = environment | {
        "STATE": str(tmp_path),
        "NEXT": str(tree),
        "PYTHON": sys.executable,
        "PYTHONPATH": f"{tree}:{ROOT}",
    }
    (tmp_path / "restart.sh").write_text(RESTART)
    main = write_nginx(tmp_path, plain, tls, ports)
    nginx = [get_program("nginx"), "-e", str(tmp_path / "error.log"), "-c", str(main)]
    try:
        processes.run("db", "upgrade")
        key = json.loads(processes.run("vendors", "create", "Tea & Co", "--json"))["test_key"]
        old = {port: processes.start("serve", "--port", str(port)) for port in ports}
        for port in ports:
            (tmp_path / f"{port}.pid").write_text(str(old[port].pid))
        for port in ports:
            wait_until(lambda port=port: answers(f"http://127.0.0.1:{port}/readyz/api"), "a process is ready")
        before = answers_revision(ports[0])
        is_up = lambda: answers(f"http://127.0.0.1:{plain}/", 301, allow_redirects=False)  # noqa: E731
        load = Load(f"https://127.0.0.1:{tls}", key)
        with run_server(nginx, tmp_path / "nginx.log", is_up), ThreadPoolExecutor() as pool, load:
            wait_until(lambda: len(load.acknowledged) > MORE, "orders are made")
            upgrade = [sys.executable, "-m", "api.cli", "db", "upgrade", "--rolling"]
            subprocess.run(upgrade, env=own, cwd=tree, check=True)
            done = len(load.acknowledged)
            wait_until(lambda: len(load.acknowledged) > done + MORE, "old processes go on on the new schema")
            assert [answers_revision(port) for port in ports] == ["0999", "0999"]
            roll = own | {
                "UPSTREAM": str(tmp_path / "checkout-upstream.conf"),
                "RELOAD": " ".join([*nginx, "-s", "reload"]),
                "RESTART": f"sh {tmp_path / 'restart.sh'}",
                "DRAIN_S": "2",
            }
            begun = [pool.submit(ask_while_it_ends, tmp_path, port, key) for port in ports]
            subprocess.run(["sh", DEPLOY / "systemd" / "roll.sh", *map(str, ports)], env=roll, check=True)
            assert [each.result() for each in begun] == [200, 200], "what it was asked before it was told is answered"
            assert [each.wait() for each in old.values()] == [0, 0], "none was killed"
            done = len(load.acknowledged)
            wait_until(lambda: len(load.acknowledged) > done + MORE, "new processes serve")
            load.stop()
            ask_one_that_is_killed(f"https://127.0.0.1:{tls}", tmp_path, ports, key)
        assert load.failed == []
        assert before != "0999"
        assert load.answered > 20 * SELLERS
        headers = {"X_Api_Key": key}
        told = [
            ask(f"http://127.0.0.1:{ports[0]}", "GET", f"/api/v1/payment/{each}", **headers)[0]
            for each in load.acknowledged
        ]
        assert set(told) == {200}
        assert " down;" not in (tmp_path / "checkout-upstream.conf").read_text()
    finally:
        for port in ports:
            end(int((tmp_path / f"{port}.pid").read_text()))
        processes.end()


def is_asked(port: int) -> bool:
    """Whether somebody is connected to a port."""
    return any(each.status == "ESTABLISHED" and each.laddr.port == port for each in psutil.net_connections("tcp"))


def ask_one_that_is_killed(site: str, state: Path, ports: tuple[int, int], key: str) -> None:
    """Ask for orders while one process stands still, and kill it: who asked it repeats, and there is one order each."""
    parent = psutil.Process(int((state / f"{ports[1]}.pid").read_text()))
    tree = [parent, *parent.children(recursive=True)]
    carts = [f"killed-{number}" for number in range(KILLED)]

    def sell(cart: str) -> tuple[int, bytes]:
        own = {"X_Api_Key": key, "Content_Type": "application/json", "Idempotency_Key": cart}
        return ask(site, "POST", "/api/v1/payment_link", json.dumps(LINK).encode(), **own)

    for process in tree:
        process.suspend()
    with ThreadPoolExecutor(KILLED) as pool:
        asked = [pool.submit(sell, cart) for cart in carts]
        wait_until(lambda: is_asked(ports[1]) and any(each.done() for each in asked), "one waits, and one is answered")
        for process in tree:
            process.kill()
        told = {each.result()[0] for each in asked}
    assert told == {200, 502}
    repeated = [sell(cart) for cart in carts]
    assert {status for status, _ in repeated} == {200}
    assert len({json.loads(body)["payment_order_id"] for _, body in repeated}) == KILLED


def answers_revision(port: int) -> str:
    status, body = ask(f"http://127.0.0.1:{port}", "GET", "/readyz/api")
    assert status == 200, body
    return str(json.loads(body)["revision"])


def end(process: int) -> None:
    """End a process that `restart.sh` started."""
    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:
        return
    status = Path(f"/proc/{process}/status")
    wait_until(lambda: not status.exists() or "State:\tZ" in status.read_text(), f"{process} has ended")

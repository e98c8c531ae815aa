"""A rolling upgrade under load: the schema grows, every process is replaced, and no customer's request fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
kill -TERM "$old"
while [ -d "/proc/$old" ] && ! grep -q '^State:.Z' "/proc/$old/status"; do sleep 0.1; done
cd "$NEXT"
"$PYTHON" -m api.cli serve --port "$port" >>"$STATE/log" 2>&1 &
echo $! >"$STATE/$port.pid"
"""
SELLERS = 2
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
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _sell(self) -> None:
        own = {"X_Api_Key": self._key, "Content_Type": "application/json"}
        while not self._stopping.is_set():
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
        for port in ports:
            (tmp_path / f"{port}.pid").write_text(str(processes.start("serve", "--port", str(port)).pid))
        for port in ports:
            wait_until(lambda port=port: answers(f"http://127.0.0.1:{port}/readyz/api"), "a process is ready")
        before = answers_revision(ports[0])
        is_up = lambda: answers(f"http://127.0.0.1:{plain}/", 301, allow_redirects=False)  # noqa: E731
        with run_server(nginx, tmp_path / "nginx.log", is_up), Load(f"https://127.0.0.1:{tls}", key) as load:
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
            subprocess.run(["sh", DEPLOY / "systemd" / "roll.sh", *map(str, ports)], env=roll, check=True)
            done = len(load.acknowledged)
            wait_until(lambda: len(load.acknowledged) > done + MORE, "new processes serve")
        assert load.failed == []
        assert before != "0999"
        assert load.answered > 20 * SELLERS
        headers = {"X_Api_Key": key}
        told = [
            ask(f"http://127.0.0.1:{ports[1]}", "GET", f"/api/v1/payment/{each}", **headers)[0]
            for each in load.acknowledged
        ]
        assert set(told) == {200}
        assert " down;" not in (tmp_path / "checkout-upstream.conf").read_text()
    finally:
        for port in ports:
            end(int((tmp_path / f"{port}.pid").read_text()))
        processes.end()


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

"""For all tests of the clients: one service as a user starts it, a receiver for what it sends, and what is compiled."""

from __future__ import annotations

import queue
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.clients.generation.typescript import PACKAGE, build_package
from tests.support.running import RunningService, run_service

PATIENCE_S = 60


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """The service of `make serve`."""
    with run_service(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TypeScript client, compiled, and its tests."""
    folder = tmp_path_factory.mktemp("typescript")
    build_package(folder)
    shutil.copytree(PACKAGE / "test", folder / "test")
    return folder


@dataclass
class Inbox:
    """A merchant's receiver: keeps what comes, body and headers."""

    url: str
    received: queue.Queue[tuple[bytes, dict[str, str]]] = field(default_factory=queue.Queue)

    def keep(self, request: Request) -> Response:
        self.received.put((request.get_data(), dict(request.headers)))
        return Response(status=200)

    def take(self) -> tuple[bytes, dict[str, str]]:
        """Wait for the next delivery."""
        return self.received.get(timeout=PATIENCE_S)


@pytest.fixture
def inbox(httpserver: HTTPServer) -> Inbox:
    """A receiver on this machine."""
    made = Inbox(httpserver.url_for("/hook"))
    httpserver.expect_request("/hook").respond_with_handler(made.keep)
    return made

"""What of the clients is generated fits the service of this tree: `make clients` writes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.clients.generation.python import write_python
from tests.clients.generation.service_document import read_service_document
from tests.clients.generation.typescript import write_typescript


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return read_service_document()


def assert_fresh(made: dict[Path, str]) -> None:
    stale = [path.name for path, text in made.items() if not path.is_file() or path.read_text() != text]
    assert stale == [], "run: make clients"


def test_the_python_client_is_fresh(document: dict[str, Any]) -> None:
    assert_fresh(write_python(document))


def test_the_typescript_client_is_fresh(document: dict[str, Any]) -> None:
    assert_fresh(write_typescript(document))

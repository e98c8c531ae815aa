"""Each package says what lives in it, what it may import, and where to begin reading; and that is true."""

from __future__ import annotations

import pytest

from tests.architecture.headers import BEGIN, allowed_rooms, imported_rooms, name_packages, name_room, read_header
from tests.architecture.source import read_modules

WITHOUT = {"api.storage.migrations.versions"}
"""Packages of generated files."""
PACKAGES = sorted(set(name_packages()) - WITHOUT)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_header_allows_what_is_imported(package: str) -> None:
    allowed = allowed_rooms(read_header(package))
    assert allowed is not None, "say in the docstring: May import `…`."
    assert imported_rooms()[package] == allowed, "import less, or change the header"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_header_says_where_to_begin(package: str) -> None:
    found = BEGIN.search(read_header(package))
    assert found, "say in the docstring: Begin with `file.py`."
    assert (read_modules()[package].path.parent / found[1]).is_file()


def test_rooms_are_named_as_far_as_needed() -> None:
    assert name_room("api.services.orders", "api.services.webhooks.outbox") == "services.webhooks"
    assert name_room("api.services.orders", "api.domain.orders") == "domain"
    assert name_room("api.services.orders", "routing_engine.reference.chains") == "routing_engine"
    assert allowed_rooms("It holds things. May import `domain` and `services.orders`. Begin with `a.py`.") == {
        "domain", "services.orders",
    }  # fmt: skip
    assert allowed_rooms("Imports nothing else of this tree. Begin with `a.py`.") == set()
    assert allowed_rooms("It holds things.") is None

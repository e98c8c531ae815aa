"""The guide's receivers take what the service has sent, and nothing else; `make docs` tries those in PHP and Go."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.webhook_receivers import COMMANDS, SNIPPETS, Delivery, check_receiver

pytestmark = [pytest.mark.xdist_group("guide"), pytest.mark.timeout(180)]
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "webhooks.md"


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_receiver_takes_what_the_service_sent_and_nothing_else(
    language: str, delivery: Delivery, tmp_path: Path
) -> None:
    check_receiver(language, delivery, tmp_path)


def test_the_page_shows_every_receiver() -> None:
    text = PAGE.read_text(encoding="utf-8")
    files = sorted(path.name for path in SNIPPETS.iterdir() if path.is_file())
    assert len(files) == len(COMMANDS)
    for name in files:
        assert f'--8<-- "snippets/{name}:verify"' in text
        assert f'--8<-- "snippets/{name}"' in text

"""The guide's receivers take what the service has sent, and nothing else; `make docs` tries those in PHP and Go."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.npm_tools import name_environment
from tests.support.running import find_free_port
from tests.support.webhook_receivers import COMMANDS, SNIPPETS, Delivery, check_receiver

pytestmark = [pytest.mark.xdist_group("guide"), pytest.mark.timeout(180)]
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "webhooks.md"


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_receiver_takes_what_the_service_sent_and_nothing_else(
    language: str, delivery: Delivery, tmp_path: Path
) -> None:
    check_receiver(language, delivery, tmp_path)


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_receiver_without_a_secret_ends_at_once_and_says_so(language: str, tmp_path: Path) -> None:
    command = COMMANDS[language](find_free_port(), tmp_path)
    environment = {name: value for name, value in name_environment().items() if name != "WEBHOOK_SECRET"}
    done = subprocess.run(
        command, cwd=SNIPPETS, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "Set WEBHOOK_SECRET to the webhook's secret (whsec_…): without it no delivery can be checked."
    )


def test_the_page_shows_every_receiver() -> None:
    text = PAGE.read_text(encoding="utf-8")
    files = sorted(path.name for path in SNIPPETS.iterdir() if path.is_file())
    assert len(files) == len(COMMANDS)
    for name in files:
        assert f'--8<-- "snippets/{name}:verify"' in text
        assert f'--8<-- "snippets/{name}"' in text
        assert f"[{name}](snippets/{name})" in text, "whoever reads it on a code host sees no code"

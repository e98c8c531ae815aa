"""The guide's receivers in languages that this project does not need otherwise; `make docs` runs it.

Its name is none that pytest collects: it is run where PHP and Go are, and by nobody else.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.webhook_receivers import SNIPPETS, Delivery, check_receiver


@pytest.mark.parametrize("language", ["php", "go"])
def test_a_receiver_takes_what_the_service_sent_and_nothing_else(
    language: str, delivery: Delivery, tmp_path: Path
) -> None:
    check_receiver(language, delivery, tmp_path)


def test_the_programs_are_clean(tmp_path: Path) -> None:
    php = subprocess.run(["php", "-l", SNIPPETS / "receive.php"], capture_output=True, text=True, check=False)
    assert php.returncode == 0, php.stdout
    gofmt = subprocess.run(["gofmt", "-l", SNIPPETS / "receive.go"], capture_output=True, text=True, check=True)
    assert gofmt.stdout == ""

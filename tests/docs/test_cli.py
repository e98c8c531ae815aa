"""`docs/cli.md` says what the commands say of themselves, and every command is run by a test."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.cli_reference import DOCUMENT, list_commands, write_reference

TESTS = Path(__file__).parents[1]


def test_the_reference_is_what_the_commands_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == write_reference(), "run python -m tests.support.cli_reference"


def test_the_examples_name_commands_and_options_that_exist() -> None:
    prose = DOCUMENT.read_text(encoding="utf-8").partition("## Reference")[0]
    commands = dict(list_commands())
    examples = re.findall(r"^checkout (.*)$", prose, re.MULTILINE)
    assert len(examples) > 8
    for example in examples:
        words = tuple(example.split())
        (named,) = [each for each in commands if words[: len(each)] == each]
        known = {option for each in commands[named].params for option in each.opts}
        assert set(re.findall(r"--[a-z-]+", example)) <= known, named


def test_every_command_is_run_by_a_test() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((TESTS / "api").rglob("test_*.py")))
    text += (TESTS / "support" / "running.py").read_text(encoding="utf-8")
    missing = [
        words
        for words, _ in list_commands()
        if not re.search(r",?\s+".join(re.escape(f'"{word}"') for word in words), text)
    ]
    assert missing == []

"""Runs the commands that a document shows, one after the other, as its reader would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
LOOK_S = 0.2
LATER = ("checkout orders show", "curl -s $CHECKOUT_URL/api/v1/payment/po_… -H")
"""Commands that are asked again until they show what the document shows: the service needs a moment."""
_BLOCK = re.compile(r'^ *```(?P<kind>console|text) title="(?P<title>[^"]+)"\n(?P<body>.*?)^ *```$', re.M | re.S)
_KEPT = re.compile(r"\b(?P<prefix>po|ep|evt|tr|sk_test|whsec)_(?P<rest>[A-Za-z0-9+/=_-]{8,})")
_OPEN = re.compile(r"\b(?P<prefix>po|ep|evt|tr|sk_test|whsec)_…")


@dataclass(frozen=True)
class Block:
    """A block of a document.

    Parameters
    ----------
    terminal : str
        Which one of the reader's it stands for.
    keeps_running : bool
        Whether its last command does not end.
    commands : list of (str, list of str)
        Each with the lines that it prints; `…` stands for anything.
    shown : list of str
        Lines that the programs of a terminal print, in a block without commands.
    """

    terminal: str
    keeps_running: bool
    commands: list[tuple[str, list[str]]]
    shown: list[str]


def read_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a document that have a terminal as their title."""
    for found in _BLOCK.finditer(text):
        terminal, _, rest = found["title"].partition(": ")
        lines = found["body"].rstrip().split("\n")
        is_console = found["kind"] == "console"
        commands = list(_split_commands(lines)) if is_console else []
        yield Block(terminal, rest == "keeps running", commands, [] if is_console else lines)


def count_commands(text: str) -> int:
    """Return how many commands a document shows, in whichever block."""
    return len(re.findall(r"^ *\$ ", text, re.MULTILINE))


def _split_commands(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield commands with what they print; one goes on while a quote is open or its line ends in a backslash."""
    command, printed = "", []
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line.removeprefix("$ "), []
        elif _goes_on(command):
            command += f"\n{line}"
        else:
            printed.append(line)
    yield command, printed


def _goes_on(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:
        return True
    return command.endswith("\\")


@dataclass
class Reader:
    """Somebody who types what a document says, and puts in what was printed before.

    Parameters
    ----------
    environment : mapping of str to str
        Of every terminal.
    replaced : mapping of str to str
        What is written otherwise here, such as a port.
    folder : Path
        For what is printed by commands that keep running.
    """

    environment: Mapping[str, str]
    replaced: Mapping[str, str]
    folder: Path
    seen: dict[str, str] = field(default_factory=dict)
    terminals: dict[str, dict[str, str]] = field(default_factory=dict)
    printed: dict[str, Path] = field(default_factory=dict)
    _running: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    def follow(self, text: str) -> int:
        """Do what a document says; return how many commands were run."""
        count = 0
        for block in read_blocks(text):
            for number, (command, printed) in enumerate(block.commands, 1):
                if block.keeps_running and number == len(block.commands):
                    self.start(block.terminal, command)
                    self.wait_for(block.terminal, printed)
                else:
                    self.run(block.terminal, command, printed)
                count += 1
            self.wait_for(block.terminal, block.shown)
        return count

    def note(self, text: str) -> None:
        """Remember ids, keys and secrets that were printed, the last one of each kind."""
        self.seen |= {found["prefix"]: found[0] for found in _KEPT.finditer(text)}

    def fill(self, text: str) -> str:
        """Put in what was printed before, and what is written otherwise here."""
        return _OPEN.sub(lambda found: self.seen[found["prefix"]], self._write_here(text))

    def run(self, terminal: str, command: str, printed: list[str]) -> str:
        """Run a command to its end and hold it to what the document shows."""
        end = time.monotonic() + (PATIENCE_S if command.startswith(LATER) else 0)
        while True:
            output = self._run_once(terminal, self.fill(command), is_refusal=any('"code"' in each for each in printed))
            if (missing := self._find_missing(output, printed)) is None:
                return output
            assert time.monotonic() < end, f"{command}\nprints\n{output}\nand not\n{missing}"
            time.sleep(LOOK_S)

    def start(self, terminal: str, command: str) -> None:
        """Start a command that goes on until this reader leaves."""
        self.printed[terminal] = path = self.folder / terminal.replace(" ", "-")
        process = self._running.enter_context(
            subprocess.Popen(
                ["bash", "-c", f"exec {self.fill(command)}"],
                env=self._environment(terminal),
                cwd=ROOT,
                stdout=self._running.enter_context(path.open("w")),
                stderr=subprocess.STDOUT,
            )
        )
        self._running.callback(process.terminate)

    def wait_for(self, terminal: str, printed: list[str]) -> None:
        """Wait until a running command has printed these lines."""
        end = time.monotonic() + PATIENCE_S
        while printed:
            output = self.printed[terminal].read_text()
            if (missing := self._find_missing(output, printed)) is None:
                self.note(output)
                return
            assert time.monotonic() < end, f"{terminal} shows\n{output}\nand not\n{missing}"
            time.sleep(LOOK_S)

    def _environment(self, terminal: str) -> dict[str, str]:
        return self.terminals.setdefault(terminal, dict(self.environment))

    def _run_once(self, terminal: str, command: str, *, is_refusal: bool) -> str:
        is_setting = command.startswith("export ")
        script = f"set -eu\n{command}\n" + ("env -0" if is_setting else "")
        done = subprocess.run(
            ["bash", "-c", script],
            env=self._environment(terminal),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        if is_setting:
            pairs = (each.partition("=") for each in done.stdout.split("\0") if each)
            self.terminals[terminal] = {name: value for name, _, value in pairs}
            return ""
        # curl has no status of its own for a refusal.
        assert '"code": "' not in done.stdout or is_refusal, f"{command}\n{done.stdout}"
        self.note(done.stdout)
        return done.stdout

    def _find_missing(self, output: str, printed: list[str]) -> str | None:
        """Return the first line that is not printed, in its order; None if all are."""
        place = 0
        for line in printed:
            pattern = ".*?".join(re.escape(part) for part in self._write_here(line.strip()).split("…"))
            found = re.compile(pattern).search(output, place)
            if found is None:
                return line
            place = found.end()
        return None

    def _write_here(self, text: str) -> str:
        for shown, here in self.replaced.items():
            text = text.replace(shown, here)
        return text


def list_environment(path: Path) -> dict[str, str]:
    """Return the caller's environment without settings of a service, and with this tree's modules."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CHECKOUT_", "SHOP_", "FLASK_", "WEBHOOK_"))
    }
    modules = os.pathsep.join((str(ROOT), str(ROOT / "clients" / "python" / "src")))
    return bare | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": modules, "PYTHONUNBUFFERED": "1"}

"""What following a chain shows, and how it is asked to stop."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapters.cli.follow_run import catch_signals, show_blocks
from routing_engine import HistoryWriter, Snapshot
from routing_engine.cli.app import cli


class Terminal(io.StringIO):
    """A screen."""

    def isatty(self) -> bool:
        return True


def replace_a_block(path: Path) -> None:
    """Record two blocks, of which the second is replaced, and show them."""
    snapshot = Snapshot.sandbox()
    with HistoryWriter(path, 1) as writer, show_blocks(writer) as progress:
        for number, block_hash, follows in ((5, "0x5", ""), (6, "0x6", ""), (6, "0x66", "0x5")):
            progress(writer.append(snapshot.apply(blocks={1: number}), block_hash=block_hash, follows=follows))


def test_a_terminal_shows_the_newest_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    replace_a_block(tmp_path / "shown")
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "Reading all pools" in shown
    assert "note: block 6 replaces 1 block: a reorganisation" in shown


def test_elsewhere_only_what_is_odd_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace_a_block(tmp_path / "shown")
    assert capsys.readouterr().err == "note: block 6 replaces 1 block: a reorganisation\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_to_stop_and_a_second_interrupts(number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with catch_signals() as event:
        os.kill(os.getpid(), number)
        assert event.wait(5)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--rpc", "1=http://x", "--blocks", "3"], "--blocks needs --follow"),
        (["--rpc", "1=http://x", "--rpc", "10=http://x", "--follow"], "--follow records one chain"),
        (["--rpc", "1=http://x", "--follow", "--fresh"], "is there already"),
        (["--rpc", "1=http://x", "--follow"], "this is no recording"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], told: str, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.write_text("something that must not be lost, whatever it is")
    result = CliRunner().invoke(cli, ["snapshot", "capture", "--out", str(out), *words])
    assert result.exit_code == 2
    assert told in result.stderr
    assert out.read_text() == "something that must not be lost, whatever it is"

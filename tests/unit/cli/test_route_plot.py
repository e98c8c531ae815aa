"""``routing-engine route --plot``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_the_best_route_is_drawn(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("route", "--from", "WETH@1", "--to", "USDC@1", "--amount", "100", "--max-hops", "2")
    for name, start in (("route.svg", b"<?xml"), ("route.png", b"\x89PNG")):
        done = run(*asked, "--plot", tmp_path / name)
        assert done.exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(start)
        assert name in done.stderr
    for name in ("route.docx", "nowhere/route.svg"):
        refused = run(*asked, "--plot", tmp_path / name)
        assert refused.exit_code == 2
        assert "--plot" in refused.stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "'quant'" in run(*asked, "--plot", tmp_path / "route.svg").stderr

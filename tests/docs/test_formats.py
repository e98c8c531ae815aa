"""The formats that are documented are those that load."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from routing_engine import Refusal, Router, RouteRequest, Snapshot
from routing_engine.markets import kinds_by_type

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / f"{name}.md").read_text() for name in ("formats", "neutral-format", "own-format")}
TEXT = PAGES["neutral-format"]
(NEUTRAL,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
(OWN,) = re.findall(r"```json\n(.*?)```", PAGES["own-format"], re.DOTALL)
(SHOWN,) = re.findall(r"```text\n(.*?)\n```", TEXT)


def load(folder: Path, text: str) -> Snapshot:
    """Load a market file of this content."""
    (folder / "market.json").write_text(text)
    return Snapshot.load(folder / "market.json")


def test_the_neutral_example_loads_as_it_says(tmp_path: Path) -> None:
    snapshot = load(tmp_path, NEUTRAL)
    assert repr(snapshot) == SHOWN
    assert dict(snapshot.blocks) == {1: 21_000_000}
    request = RouteRequest(token_in="WETH@1", token_out="USDT@1", amount=10**18)
    assert [hop.protocol for hop in Router(snapshot).find_routes(request).best().hops] == ["uniswap_v2", "uniswap_v3"]


def test_the_example_of_the_own_format_is_what_is_written(tmp_path: Path) -> None:
    snapshot = load(tmp_path, OWN)
    snapshot.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(OWN)
    request = RouteRequest(token_in="WETH@1", token_out="USDC@10", amount=10**18)
    assert [hop.protocol for hop in Router(snapshot).find_routes(request).best().hops] == ["uniswap_v2", "my_bridge"]
    (pair, _) = snapshot.markets.values()
    (pool, *_) = load(tmp_path, NEUTRAL).markets.values()
    assert pair == pool


def test_every_type_stands_in_the_table_with_its_kind() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \| ([a-z_0-9]+) \|", TEXT, re.MULTILINE)
    listed = {name: kind for names, kind in rows for name in re.findall(r"`([^`]+)`", names)}
    (kyber,) = re.findall(r"^\| (`[^|]+`) \| as their names say", TEXT, re.MULTILINE)
    assert listed | {name: kinds_by_type()[name] for name in re.findall(r"`([^`]+)`", kyber)} == kinds_by_type()


def test_every_refusal_is_explained() -> None:
    text = (DOCS / "markets.md").read_text()
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE)) == set(Refusal)


def test_links_lead_somewhere() -> None:
    for target, anchor in re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", "".join(PAGES.values())):
        headings = re.findall(r"^#+ (.+)$", (DOCS / target).read_text(), re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, target


def test_the_example_of_both_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    example, archives = re.findall(r"```python\n(.*?)```", PAGES["formats"], re.DOTALL)
    exec(compile(example, "formats.md", "exec"), {})
    assert capsys.readouterr().out in PAGES["formats"]
    exec(compile(archives, "formats.md", "exec"), {})

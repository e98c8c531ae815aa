"""A kind of market from outside the tree costs one package and one line: the example of the documentation is run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "markets.md").read_text()
PACKAGE = next(block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "MarketKind(" in block)
(LINE,) = re.findall(r"routing_engine\.markets =\n +(.*)\n", TEXT)

OF = "in routing_engine.markets, of constant-sum 1.0"
USDC, USDT = "0x" + "a" * 40, "0x" + "b" * 40
POOL = {
    "id": "1:0xsum",
    "type": "constant_sum",
    "protocol": "Sum",
    "chain_id": 1,
    "fee": "0.0001",
    "reserves": ["5000000000000000000000", "7000000"],
    "tokens": [
        {"address": USDC, "symbol": "USDC", "decimals": 6},
        {"address": USDT, "symbol": "USDT", "decimals": 6},
    ],
}

USE = """
import json
from pathlib import Path
from adapters.testing import check_market
from routing_engine import RouteRequest, Router, Snapshot

here = Path(sys.argv[1])
snapshot = Snapshot.load(here / "pools.json")
sold, bought = snapshot.token("USDC@1"), snapshot.token("USDT@1")
route = Router(snapshot).find_routes(RouteRequest(token_in=sold, token_out=bought, amount=1_000_000)).best()
snapshot.save(here / "saved.json")
again = Snapshot.load(here / "saved.json")
(market,) = again.markets.values()
check_market(market)
_, after = market.swap_exact_in(sold, bought, 1_000_000)
print(json.dumps({
    "amount_out": route.amount_out, "same": again == snapshot, "shown": repr(market), "home": type(market).__module__,
    "record": market.to_record(), "after": [str(after.reserve0), str(after.reserve1)],
}))
"""


def run(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process that also finds what is installed in `folder`."""
    script = f"import sys; sys.path.append({str(folder)!r})\n{code}"
    return subprocess.run([sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True)


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Give a folder in which the example is installed: its package, and what an installer makes of its one line."""
    site = tmp_path / "site"
    write(site / "constant_sum" / "__init__.py", PACKAGE)
    write(site / "constant_sum-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: constant-sum\nVersion: 1.0\n")
    write(site / "constant_sum-1.0.dist-info" / "entry_points.txt", f"[routing_engine.markets]\n{LINE}\n")
    write(tmp_path / "pools.json", json.dumps({"meta": {"chain_id": 1}, "pools": [POOL]}))
    return site


def test_one_package_and_one_line_are_all_that_a_kind_needs(site: Path, tmp_path: Path) -> None:
    touched = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*") if path.is_file()}
    done = run(site, USE, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "amount_out": 999_900,
        "same": True,
        "shown": "ConstantSumPool('1:0xsum', 'USDC@1, USDT@1')",
        "home": "constant_sum",
        "record": {
            "kind": "constant_sum",
            "id": "1:0xsum",
            "protocol": "sum",
            "token0": f"{USDC}@1",
            "token1": f"{USDT}@1",
            "reserve0": "5000000000000000000000",
            "reserve1": "7000000",
            "fee_pips": 100,
            "gas": 60000,
        },
        "after": ["5000000000000001000000", "6000100"],
    }
    metadata = {name: text for name, text in touched.items() if ".dist-info/" in name}
    assert touched.keys() - metadata.keys() == {"constant_sum/__init__.py"}
    lines = metadata["constant_sum-1.0.dist-info/entry_points.txt"].splitlines()
    assert lines == ["[routing_engine.markets]", "constant_sum = constant_sum:KIND"]


def test_without_its_line_the_kind_is_unknown_and_counted(site: Path, tmp_path: Path) -> None:
    (site / "constant_sum-1.0.dist-info" / "entry_points.txt").unlink()
    code = "from routing_engine import Snapshot; print(dict(Snapshot.load(sys.argv[1]).refused))"
    done = run(site, code, str(tmp_path / "pools.json"))
    assert done.stdout.strip() == "{'unsupported_type:constant_sum': 1}", done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lane = constant_sum:KIND", "two packages offer the market kind 'lane'"),
        ("other = constant_sum:KIND", f"'other' (constant_sum:KIND) {OF}, must name a MarketKind whose market has"),
        ("constant_sum = constant_sum:ConstantSumPool", f"{OF}, must name a MarketKind"),
        ("constant_sum = constant_sum:NONE", f"'constant_sum' (constant_sum:NONE) {OF}, cannot be loaded: Attr"),
        ("constant_sum = no_such:KIND", f"{OF}, cannot be loaded: ModuleNotFoundError: No module named 'no_such'"),
    ],
)
def test_a_wrong_line_is_refused(site: Path, line: str, message: str) -> None:
    write(site / "constant_sum-1.0.dist-info" / "entry_points.txt", f"[routing_engine.markets]\n{line}\n")
    done = run(site, "from routing_engine.markets import installed_kinds; installed_kinds()")
    assert done.returncode == 1
    assert message in done.stderr


LOAD = """
from routing_engine import BadMarketFile, Snapshot
try:
    snapshot = Snapshot.load(sys.argv[1])
    print(repr(snapshot)); print(dict(snapshot.refused))
except BadMarketFile as error:
    print(error)
"""
PAIR = POOL | {"id": "1:0xpair", "type": "cpmm"}


def test_a_kind_that_cannot_be_loaded_takes_no_other_down(site: Path, tmp_path: Path) -> None:
    write(site / "constant_sum" / "__init__.py", "import not_there\n")
    write(tmp_path / "pools.json", json.dumps({"pools": [POOL, POOL, PAIR]}))
    done = run(site, LOAD, str(tmp_path / "pools.json"))
    shown, refused = done.stdout.splitlines()
    assert shown.startswith("Snapshot(1 markets, chains [1], id ")
    assert shown.endswith(", 2 left out: 2 unsupported_type:constant_sum)")
    assert refused == "{'unsupported_type:constant_sum': 2}"
    said = f"RuntimeWarning: the extension 'constant_sum' (constant_sum:KIND) {OF}, cannot be loaded: "
    assert done.stderr.count(f"{said}ModuleNotFoundError: No module named 'not_there'; mend the package or remove") == 1


def test_a_record_of_a_broken_kind_says_whose_it_is(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    save = "from routing_engine import Snapshot; Snapshot.load(sys.argv[1]).save(sys.argv[2])"
    assert run(site, save, str(tmp_path / "pools.json"), str(path)).returncode == 0
    source = (site / "constant_sum" / "__init__.py").read_text()
    fails = source.replace("def __post_init__(self):", "def __post_init__(self):\n        {}['nope']")
    for broken, reason in (
        ("import not_there\n", "markets.0.kind: the extension 'constant_sum' .* cannot be loaded: ModuleNotFoundError"),
        (fails, "markets.0: cannot be read: the kind 'constant_sum' .*, of constant-sum 1.0, fails with KeyError: 'no"),
    ):
        write(site / "constant_sum" / "__init__.py", broken)
        assert re.search(reason, run(site, LOAD, str(path)).stdout)


def test_a_reader_that_breaks_down_takes_only_its_pools_with_it(site: Path, tmp_path: Path) -> None:
    source = (site / "constant_sum" / "__init__.py").read_text()
    write(site / "constant_sum" / "__init__.py", source.replace("= require_two(tokens)", "= pool['nope']"))
    write(tmp_path / "pools.json", json.dumps({"pools": [PAIR, POOL, POOL]}))
    done = run(site, LOAD, str(tmp_path / "pools.json"))
    shown, refused = done.stdout.splitlines()
    assert shown.endswith(", 2 left out: 2 reader_failed:constant_sum)")
    assert refused == "{'reader_failed:constant_sum': 2}"
    assert done.stderr.count("RuntimeWarning") == 1
    said = f"the kind 'constant_sum' (constant_sum:KIND) {OF}, fails with KeyError: 'nope'"
    assert re.search(rf"pools\.json: pools\.1: the pool is left out, .*: {re.escape(said)}", done.stderr)


def test_a_command_that_cannot_be_loaded_takes_no_other_down(site: Path) -> None:
    write(site / "constant_sum-1.0.dist-info" / "entry_points.txt", "[routing_engine.commands]\nsums = no_such:sums\n")
    call = "from routing_engine.cli import main; sys.argv = ['routing-engine', *sys.argv[1:]]; main()"
    assert "snapshot" in run(site, call, "--help").stdout
    done = run(site, call, "sums")
    assert done.returncode == 1
    assert "'sums' (no_such:sums) in routing_engine.commands, of constant-sum 1.0, cannot be loaded" in done.stderr

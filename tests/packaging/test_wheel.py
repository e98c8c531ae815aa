"""A wheel is the engine alone; the tree, installed editable, is everything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution, distributions, entry_points
from pathlib import Path
from zipfile import ZipFile

import pytest

from build_backend import wheel_settings
from tests.support.bench_solvers import make_market

ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"]
ROUTE = """
import json, sys
from routing_engine import Router, RouteRequest, Snapshot, __version__
Snapshot.sandbox().save("market.json.gz")
snapshot = Snapshot.load("market.json.gz")
request = RouteRequest(token_in=snapshot.token("WETH@1"), token_out=snapshot.token("USDC@8453"), amount=5 * 10**18)
found = [sys.modules["routing_engine"].__file__, __version__, Router(snapshot).find_routes(request).best().amount_out]
print(json.dumps(found))
"""

WHOLE = """
[metadata]
name = all
version = 1
[options]
packages = find:
[options.extras_require]
cli = click
API = %(cli)s
[options.entry_points]
scripts = a
[wheel:metadata]
name = part
[wheel:options.extras_require]
cli =
[mypy]
strict = True
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel was installed by itself."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, ROOT], check=True, cwd=folder
    )
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*PIP, "install", "--no-deps", "--no-index", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def test_nothing_but_the_engine_and_its_benchmark_is_installed(site: Path) -> None:
    shown = {path.name for path in site.iterdir()}
    version = distribution("crosschain-checkout").version
    assert shown == {"routing_engine", "routing_engine_benchmarks", f"routing_engine-{version}.dist-info", "bin"}
    assert [path.name for path in (site / "bin").iterdir()] == ["routing-engine"]
    kept = {
        str(path.relative_to(ROOT)) for path in (ROOT / "routing_engine").rglob("*") if "__pycache__" not in path.parts
    }
    there = {
        str(path.relative_to(site)) for path in (site / "routing_engine").rglob("*") if "__pycache__" not in path.parts
    }
    assert there == kept


def test_its_metadata_names_the_engine_only(site: Path) -> None:
    (dist_info,) = site.glob("*.dist-info")
    metadata = (dist_info / "METADATA").read_text()
    assert "Name: routing-engine\n" in metadata
    described = (ROOT / "docs" / "routing_engine.md").read_text()
    assert metadata.endswith(f"\n\n{described}")
    assert "](" not in described, "an index has none of the tree's files"
    assert {line.split(": ")[1] for line in metadata.splitlines() if line.startswith("Provides-Extra")} == {
        "bench",
        "cli",
        "dask",
        "quant",
    }
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra" not in line]
    assert [line.split(": ")[1].split("<")[0] for line in needed] == ["networkx", "numba", "numpy"]
    (installed,) = distributions(path=[str(site)])
    groups = {entry.group for entry in installed.entry_points}
    benched = {"routing_engine.commands", "routing_engine.solvers"}
    assert groups == {"console_scripts", "routing_engine.markets"} | benched
    homes = {entry.group: {each.module.split(".")[0] for each in installed.entry_points.select(group=entry.group)}
             for entry in installed.entry_points}  # fmt: skip
    assert homes == {
        group: {"routing_engine_benchmarks" if group in benched else "routing_engine"} for group in groups
    }  # fmt: skip
    settings = wheel_settings((ROOT / "setup.cfg").read_text())["options.entry_points"]
    for group in ("routing_engine.markets", "routing_engine.solvers"):
        named = {entry.name for entry in installed.entry_points.select(group=group)}
        assert named == {line.split(" = ")[0] for line in settings[group].strip().splitlines()}
    kinds = installed.entry_points.select(group="routing_engine.markets")
    assert set(kinds) == set(distribution("crosschain-checkout").entry_points.select(group="routing_engine.markets"))


def test_what_describes_it_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "routing_engine.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(example, "routing_engine.md", "exec"), {})
    assert capsys.readouterr().out.startswith("WETH@1 -[")
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "pip wheel . --no-deps -w dist" in (ROOT / name).read_text()


def test_it_routes_by_itself(site: Path, tmp_path: Path) -> None:
    """Only the engine's own needs are beside it: no api, no adapters, and nothing of this tree."""
    beside = tmp_path / "site"
    beside.mkdir()
    installed = Path(sysconfig.get_path("purelib"))
    for name in ("networkx", "numpy", "numpy.libs", "numba", "llvmlite", "llvmlite.libs"):
        if (installed / name).exists():
            (beside / name).symlink_to(installed / name)
    path = os.pathsep.join([str(site), str(beside)])
    cache = os.environ.get("NUMBA_CACHE_DIR") or str(tmp_path / "cache")
    done = subprocess.run(
        [sys.executable, "-S", "-c", ROUTE],
        env={"PYTHONPATH": path, "NUMBA_CACHE_DIR": cache, "NUMBA_DISABLE_JIT": "1", "HOME": str(tmp_path)},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    where, version, amount_out = json.loads(done.stdout)
    assert Path(where).is_relative_to(site)
    assert version == distribution("crosschain-checkout").version
    assert amount_out > 10**9


def link_installed(folder: Path, without: tuple[str, ...]) -> None:
    """Put what is installed beside the tree into a folder, but for this tree and some packages."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("__editable__", "crosschain_checkout", "__pycache__", *without)):
            (folder / path.name).symlink_to(path)


BENCH = "import sys; from routing_engine.cli import main; sys.argv[0] = 'routing-engine'; main()"


def run_bench(site: Path, beside: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    cache = os.environ.get("NUMBA_CACHE_DIR") or str(beside.parent / "cache")
    path = os.pathsep.join([str(site), str(beside)])
    return subprocess.run(
        [sys.executable, "-S", "-c", BENCH, "bench", *arguments],
        env={"PYTHONPATH": path, "NUMBA_CACHE_DIR": cache, "NUMBA_DISABLE_JIT": "1", "HOME": str(beside.parent)},
        cwd=beside.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


def write_solver(path: Path, finds: str) -> None:
    """Write a solver of somebody's own, from a peer of the wheel."""
    path.write_text(
        "from routing_engine_benchmarks.peers.rustworkx_paths import RustworkxPaths\n"
        "class Mine(RustworkxPaths):\n"
        f"    def solve(self, request, gas_values):\n        {finds}\n"
    )


def test_its_benchmark_runs_without_the_tree(site: Path, tmp_path: Path) -> None:
    beside = tmp_path / "site"
    link_installed(beside, ())
    listed = run_bench(site, beside, "solvers")
    assert listed.returncode == 0, listed.stderr
    assert {"routing_engine", "networkx", "uniswap_sor"} <= set(listed.stdout.split())
    folder = tmp_path / "markets"
    folder.mkdir()
    market = make_market(5, 6)
    market.save(folder / "few.json")
    ends = ",".join(token.key for token in next(iter(market.markets.values())).tokens)
    (folder / "requests.csv").write_text(f"token_in,token_out,amount\n{ends},1000000000000000000\n")
    done = run_bench(site, beside, "run", "--suite", str(folder), "--solver", "rustworkx", "--runs", "runs.jsonl")
    assert done.returncode == 0, done.stderr
    assert "| rustworkx | 100 % |" in done.stdout
    for name, finds in (("good", "return super().solve(request, gas_values)"), ("worse", "return None")):
        write_solver(tmp_path / "mine.py", finds)
        mine = ("--suite", str(folder), "--solver", "mine:Mine", "--runs", f"{name}.jsonl")
        asked = run_bench(site, beside, "run", *mine)
        assert asked.returncode == 0, asked.stderr
    compared = run_bench(site, beside, "compare", "good.jsonl", "worse.jsonl", "--fail-over", "5%", "--only", "quality")
    assert compared.returncode == 1, compared.stdout
    assert "mine:Mine" in compared.stderr
    back = run_bench(site, beside, "compare", "worse.jsonl", "good.jsonl", "--fail-over", "5%", "--only", "quality")
    assert back.returncode == 0, back.stdout
    reported = run_bench(site, beside, "report", "runs.jsonl", "--html", "report.html")
    assert reported.returncode == 0, reported.stderr
    assert "<svg" in (tmp_path / "report.html").read_text()


def test_its_benchmark_without_the_extra_ends_with_one_line(site: Path, tmp_path: Path) -> None:
    beside = tmp_path / "site"
    link_installed(beside, ("clarabel", "cvxpy", "rustworkx"))
    done = run_bench(site, beside, "run")
    assert done.returncode == 2
    assert done.stderr == "Error: clarabel, cvxpy, rustworkx missing; run: pip install 'routing-engine[bench]'\n"


def test_an_archive_of_the_sources_builds_the_same_wheel(site: Path, tmp_path: Path) -> None:
    build = "import sys, build_backend; print(build_backend.build_sdist(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", build, tmp_path], cwd=ROOT, capture_output=True, text=True, check=True
    )
    archive = tmp_path / done.stdout.split()[-1]
    subprocess.run(
        [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", tmp_path, archive],
        check=True,
        cwd=tmp_path,
    )
    (again,) = tmp_path.glob("*.whl")
    (wheel,) = site.parent.glob("*.whl")
    assert list_members(again) == list_members(wheel)


def test_the_tree_installed_editable_is_everything() -> None:
    commands = {
        entry.name for entry in distribution("crosschain-checkout").entry_points.select(group="console_scripts")
    }
    assert commands == {"routing-engine", "checkout"}
    assert {"chain", "sandbox"} <= {entry.name for entry in entry_points(group="routing_engine.adapters")}
    assert {"across", "stargate"} <= {entry.name for entry in entry_points(group="routing_engine.bridges")}


def test_a_section_for_wheels_stands_in_for_its_namesake() -> None:
    settings = wheel_settings(WHOLE)
    assert {name: dict(settings[name]) for name in settings.sections()} == {
        "metadata": {"name": "part", "version": "1"},
        "options": {"packages": "find:"},
        "options.extras_require": {"cli": "click"},
        "mypy": {"strict": "True"},
    }


@pytest.mark.parametrize("name", ["click", "flask"])
def test_a_checkout_without_its_extra_says_what_to_install(name: str) -> None:
    code = f"import sys; sys.modules[{name!r}] = None; from api.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"Error: {name} missing; run: pip install -e '.[api]', or make serve\n"


def list_members(wheel: Path) -> dict[str, int]:
    """Return what is in a wheel, with checksums."""
    with ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}

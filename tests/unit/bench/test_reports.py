"""Runs are compared, and told as Markdown and as one page that needs nothing else."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchmarks.cli import bench
from benchmarks.reports.compare import Comparison, compare
from benchmarks.reports.document import Run, append_run
from benchmarks.reports.figures import Kind, fit_power
from benchmarks.reports.html import write_html
from benchmarks.reports.markdown import write_markdown, write_summary
from tests.support.bench_solvers import OURS


def run_bench(*arguments: object) -> Result:
    return CliRunner().invoke(bench, [str(each) for each in arguments])


def regressions(found: Comparison, allowed: float = 0.05) -> set[tuple[str, str]]:
    return {each.key[1:] for each in found.changes if each.is_regression(allowed)}


def change(run: Run, name: str, factor: float, on: str = "small trades") -> Run:
    changed = copy.deepcopy(run)
    for row in changed["figures"]:
        if (row["on"], row["name"]) == (on, name):
            row["value"] = row["value"] * factor
    return changed


def test_a_router_made_worse_on_purpose_is_caught(runs: tuple[Run, Run], tmp_path: Path) -> None:
    good, bad = runs
    assert ("larger trades", "gap p50") in regressions(compare(good, bad))
    for name, run in (("a", good), ("b", bad)):
        append_run(tmp_path / name, run)
    done = run_bench("compare", tmp_path / "a", tmp_path / "b", "--fail-over", "5%", "--only", "quality")
    assert done.exit_code == 1, done.output
    assert re.search(r"worse by more than 5 %: \d+ of \d+ figures; first benchmarks.peers.this_router", done.output)
    assert "everything: gap" in done.output
    back = run_bench("compare", tmp_path / "b", tmp_path / "a", "--only", "quality")
    assert back.exit_code == 0, back.output
    assert "better" in back.output


def test_a_run_is_no_worse_than_itself(runs: tuple[Run, Run], tmp_path: Path) -> None:
    append_run(tmp_path / "runs", runs[0])
    done = run_bench("compare", tmp_path / "runs", f"{tmp_path / 'runs'}#1", "--fail-over", "0")
    assert done.exit_code == 0, done.output
    assert "none of" in done.output


def test_time_and_memory_count_within_what_is_allowed(runs: tuple[Run, Run]) -> None:
    good, _ = runs
    slower = change(change(good, "wall, warm p50", 100), "memory", 1.5, "small")
    assert regressions(compare(good, slower)) == {("small trades", "wall, warm p50"), ("small", "memory")}
    assert regressions(compare(good, slower, [Kind.MEMORY])) == {("small", "memory")}
    assert regressions(compare(good, slower), 0.6) == {("small trades", "wall, warm p50")}
    assert regressions(compare(slower, good)) == set()


def test_noise_is_no_regression(runs: tuple[Run, Run]) -> None:
    good, _ = runs
    before, after = (copy.deepcopy(good) for _ in range(2))
    for run, value in ((before, 0.0), (after, 0.04)):
        next(row for row in run["figures"] if row["name"] == "gap p50")["value"] = value
    assert regressions(compare(before, after)) == set()


def test_what_is_lost_is_named(runs: tuple[Run, Run], tmp_path: Path) -> None:
    good, _ = runs
    mute = copy.deepcopy(good)
    mute["figures"] = [row for row in mute["figures"] if not row["name"].startswith("gap p")]
    assert any(each.endswith("small trades: gap p50") for each in compare(good, mute).lost)
    append_run(tmp_path / "a", good)
    append_run(tmp_path / "b", mute)
    assert run_bench("compare", tmp_path / "a", tmp_path / "b").exit_code == 1


def test_other_markets_requests_and_machines_are_not_compared(runs: tuple[Run, Run], tmp_path: Path) -> None:
    good, _ = runs
    other = copy.deepcopy(good)
    other["markets"][0]["hash"] = "0" * 32
    other["groups"][1]["hash"] = "0" * 32
    other["facts"]["processor"] = "another"
    found = compare(good, other)
    assert {each.key[1] for each in found.changes} <= {"larger"}
    assert all(each.kind != Kind.TIME for each in found.changes)
    said = "; ".join(found.skipped)
    for part in ("small: another market", "larger trades: other requests", "different machines"):
        assert part in said
    append_run(tmp_path / "a", good)
    other["markets"][1]["hash"] = "0" * 32
    append_run(tmp_path / "b", other)
    done = run_bench("compare", tmp_path / "a", tmp_path / "b")
    assert done.exit_code == 2
    assert "nothing can be compared" in done.output


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), ("", "there is no run"), ("{", "is no run"), ('{"schema": "x"}', "measure again")],
)
def test_files_that_are_no_runs_are_refused(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "runs"
    if content is not None:
        path.write_text(content)
    for command in (("compare", path, path), ("report", path)):
        done = run_bench(*command)
        assert done.exit_code == 2, done.output
        assert said in done.output.replace("\n", " ")


def test_percentages_are_checked(tmp_path: Path) -> None:
    for wrong in ("-1", "much", "nan", "inf"):
        assert run_bench("compare", "a", "b", "--fail-over", wrong).exit_code == 2


def test_markdown_has_everything(runs: tuple[Run, Run]) -> None:
    text = write_markdown(runs[1], runs)
    for part in ("small trades: quality", "larger trades: times", "Growth", "before", runs[1]["markets"][0]["hash"]):
        assert part in text
    assert write_summary(runs[0]).count("| routing_engine |") == 1


class Links(HTMLParser):
    """Collects what a page points to, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        """Note a tag."""
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src", "xlink:href", "data", "action"):
                self.links.append(value)
            if name == "id":
                self.ids.append(value)


def test_the_page_needs_nothing_else(runs: tuple[Run, Run]) -> None:
    hostile = copy.deepcopy(runs[0])
    hostile["solvers"][0]["name"] = "<script>alert(1)</script>"
    page = Links()
    text = write_html([(hostile, runs)])
    page.feed(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert page.tags.count("svg") == 2 + 2 + 2 * len(hostile["groups"])
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_one_page_has_all_suites(runs: tuple[Run, Run], tmp_path: Path) -> None:
    names = []
    for run, suite in zip(runs, ("quick", "full"), strict=True):
        append_run(tmp_path / suite, {**run, "suite": suite})
        names.append(tmp_path / suite)
    done = run_bench("report", *names, "--html", tmp_path / "all.html")
    assert done.exit_code == 0, done.output
    page = Links()
    text = (tmp_path / "all.html").read_text(encoding="utf-8")
    page.feed(text)
    assert page.tags.count("section") == 2
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    groups = sum(len(run["groups"]) for run in runs)
    assert page.tags.count("svg") == 2 * (2 + 2) + 2 * groups
    before_parts = text[: text.index("<section")]
    assert before_parts.count("<svg") == 2 * (2 + 2), "side by side, before the parts"
    assert all(f"Suite {suite}" in before_parts for suite in ("quick", "full"))
    refused = run_bench("report", *names, "--json", tmp_path / "run.json")
    assert refused.exit_code == 2
    assert "takes one run" in refused.output
    assert run_bench("report", *names, "--summary").output.count("| routing_engine |") == 2


def test_reports_are_written(runs: tuple[Run, Run], tmp_path: Path) -> None:
    for run in runs:
        append_run(tmp_path / "runs", run)
    files = [tmp_path / "new" / name for name in ("report.md", "run.json")]
    done = run_bench("report", f"{tmp_path / 'runs'}#1", "--markdown", files[0], "--json", files[1])
    assert done.exit_code == 0, done.output
    assert [file.stat().st_size > 1_000 for file in files] == [True] * 2
    assert OURS in files[1].read_text()
    assert "| routing_engine |" in run_bench("report", tmp_path / "runs", "--summary").output


def test_growth_is_a_power() -> None:
    assert fit_power([(10, 5.0), (100, 50.0), (1_000, 500.0)]) == pytest.approx(1)
    assert fit_power([(10, 4.0), (1_000, 40.0)]) == pytest.approx(0.5)

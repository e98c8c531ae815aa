"""The interface's rules and the tests that hold them; run as a module, this writes `docs/rules.md` anew.

A rule stands in `tests/rules`, a chapter a file. A test names the rules that it holds with
``@pytest.mark.rule("links.3")``. Marks are read from the text of the tests: none is run or imported for that.
"""

from __future__ import annotations

import ast
import os
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULES = ROOT / "tests" / "rules"
DOCUMENT = ROOT / "docs" / "rules.md"
MARK = "rule"
NEEDS_RECORDINGS = "shared_data"
"""Mark of tests that run only where recorded data are: no rule rests on them alone."""
SKIPS = frozenset({"skip", "skipif", "xfail"})
HEAD = (
    "# Rules and the tests that hold them\n\n"
    "What the service's interface asks for, a sentence for each rule, and the tests that fail when it is broken. "
    "The page is made from the marks of the tests, without running them: `python -m tests.support.rules`. "
    "[CONTRIBUTING.md](../CONTRIBUTING.md#a-rule-of-the-interface) says how to add a rule.\n"
)


@dataclass(frozen=True)
class Chapter:
    """Rules that belong together.

    Parameters
    ----------
    name : str
        What their ids begin with.
    title : str
        Its heading.
    rules : mapping of str to str
        Each rule in a sentence, by its id.
    unheld : mapping of str to str
        Why no test holds a rule, by its id.
    """

    name: str
    title: str
    rules: Mapping[str, str]
    unheld: Mapping[str, str]


@dataclass(frozen=True, order=True)
class Holder:
    """A test that says which rules it holds.

    Parameters
    ----------
    path : str
        Its file, from the root.
    test : str
        Its function.
    marks : frozenset of str
        Names of its marks, and of its module's.
    """

    path: str
    test: str
    marks: frozenset[str]


def read_chapters() -> list[Chapter]:
    """Return the chapters in their order."""
    read = [(tomllib.loads(file.read_text(encoding="utf-8")), file.stem) for file in RULES.glob("*.toml")]
    return [
        Chapter(
            name=name,
            title=found["title"],
            rules={f"{name}.{number}": text for number, text in found["rules"].items()},
            unheld={f"{name}.{number}": text for number, text in found.get("unheld", {}).items()},
        )
        for found, name in sorted(read, key=lambda each: each[0]["order"])
    ]


def find_holders() -> dict[str, list[Holder]]:
    """Return the tests that name each rule, known or not."""
    found: dict[str, set[Holder]] = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if f"mark.{MARK}(" in text:
            for rule, holder in list_marks(path.relative_to(ROOT).as_posix(), ast.parse(text)):
                found[rule].add(holder)
    return {rule: sorted(holders) for rule, holders in found.items()}


def write_page() -> str:
    """Return the page as it should be."""
    chapters, holders = read_chapters(), find_holders()
    count, tests = sum(len(each.rules) for each in chapters), {each for row in holders.values() for each in row}
    parts = [HEAD, f"\n{count} rules, {len(tests)} tests.\n"]
    parts += _write_unheld(chapters)
    for chapter in chapters:
        parts.append(f"\n## {chapter.title}\n\n| id | rule | tests |\n|---|---|---|\n")
        for rule, text in chapter.rules.items():
            links = "<br>".join(_write_link(each) for each in holders.get(rule, ()))
            parts.append(f"| `{rule}` | {text} | {links or 'none yet'} |\n")
    return "".join(parts)


def _write_unheld(chapters: list[Chapter]) -> Iterator[str]:
    rows = [row for chapter in chapters for row in chapter.unheld.items()]
    if rows:
        yield "\n## Not held yet\n\n"
        yield from (f"- `{rule}`: {why}\n" for rule, why in rows)


def _write_link(holder: Holder) -> str:
    target = Path(os.path.relpath(ROOT / holder.path, DOCUMENT.parent)).as_posix()
    return f"[`{holder.test}`]({target})"


def list_marks(path: str, tree: ast.Module) -> Iterator[tuple[str, Holder]]:
    """Yield each rule that a test module names, with the test."""
    shared = [value for node in tree.body if _is_pytestmark(node) for value in _list_values(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marks = [*shared, *node.decorator_list]
            holder = Holder(path=path, test=node.name, marks=frozenset(filter(None, map(_name_mark, marks))))
            for mark in marks:
                if isinstance(mark, ast.Call) and _name_mark(mark) == MARK:
                    yield from ((ast.literal_eval(argument), holder) for argument in mark.args)


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == ["pytestmark"]


def _list_values(node: ast.stmt) -> list[ast.expr]:
    assert isinstance(node, ast.Assign)
    return node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]


def _name_mark(node: ast.expr) -> str:
    """Return the name of ``pytest.mark.name`` or ``pytest.mark.name(…)``; empty for anything else."""
    target = node.func if isinstance(node, ast.Call) else node
    before, _, name = ast.unparse(target).rpartition(".")
    return name if before == "pytest.mark" else ""


if __name__ == "__main__":
    DOCUMENT.write_text(write_page(), encoding="utf-8")

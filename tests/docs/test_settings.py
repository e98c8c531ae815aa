"""`docs/settings.md` has every variable that the code reads, with the default that counts, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from api.config import MOST_WORKERS, Config, count_processors
from api.settings import SETTINGS
from tests.support.settings_reference import DOCUMENT, write_reference

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "adapters", "routing_engine")
OWN = {"PROMETHEUS_MULTIPROC_DIR", "HOME", "PYTHONPATH", "ROUTING_ENGINE_COMPILING"}
"""The system's, and what the engine tells the processes that it starts itself."""
ASK = {"get", "getenv", "setdefault", "pop"}
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")


def list_sources() -> Iterator[ast.Module]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


def find_constants(sources: list[ast.Module]) -> dict[str, str]:
    """Return the texts that are given names."""
    return {
        target.id: value.value
        for source in sources
        for node in ast.walk(source)
        if isinstance(node, ast.Assign)
        for target, value in pair_up(node)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def pair_up(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield target, node.value


def find_variables(source: ast.Module, constants: dict[str, str]) -> Iterator[str]:
    """Yield the environment variables that a module reads, sets or passes on."""
    for node in ast.walk(source):
        for value in find_names(node):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value
            elif isinstance(value, ast.Name):
                yield constants.get(value.id, f"{value.id}, which is no constant")


def find_names(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that name a variable."""
    if isinstance(node, ast.Subscript) and is_environment(node.value):
        yield node.slice
    if isinstance(node, ast.Compare) and any(map(is_environment, node.comparators)):
        yield node.left
    if isinstance(node, ast.keyword) and node.arg == "envvar":
        yield node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        is_asked = node.func.attr in ASK and is_environment(node.func.value)
        is_env = isinstance(node.func.value, ast.Name) and node.func.value.id in {"env", "os"}
        if is_asked or (is_env and node.func.attr in {"getenv", "str", "int", "bool", "float"}):
            yield node.args[0]


def is_environment(node: ast.expr) -> bool:
    return ast.unparse(node) == "os.environ"


def find_settings_of_config() -> set[str]:
    source = ast.parse((ROOT / "api" / "config.py").read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if VARIABLE.fullmatch(text)} - {"DEBUG", "INFO", "WARNING", "ERROR"}


def find_read() -> set[str]:
    sources = list(list_sources())
    constants = find_constants(sources)
    found = {name for source in sources for name in find_variables(source, constants | find_constants([source]))}
    return found | find_settings_of_config()


def test_the_reference_is_what_the_code_declares() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == write_reference(), "run python -m tests.support.settings_reference"


def test_no_variable_is_read_that_the_reference_lacks_and_none_is_declared_that_nobody_reads() -> None:
    assert find_read() - OWN == set(SETTINGS)


@pytest.mark.parametrize(
    "source",
    [
        "os.environ['NEW']",
        "os.environ.get('NEW', '')",
        "os.getenv('NEW')",
        "if 'NEW' in os.environ: pass",
        "click.option('--x', envvar='NEW')",
        "NAME = 'NEW'\nos.environ.get(NAME)",
        "env.str('NEW')",
    ],
)
def test_each_way_of_reading_is_noticed(source: str) -> None:
    module = ast.parse(source)
    assert "NEW" in set(find_variables(module, find_constants([module])))


def test_the_declared_defaults_are_those_that_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    processes = min(MOST_WORKERS, count_processors())
    folder = tmp_path / ".data"
    bare = Config(data_dir=folder, database_url=f"sqlite:///{folder}/checkout.db", web_workers=processes)
    assert Config.from_env() == bare
    monkeypatch.setenv("ADAPTERS", "sandbox")
    assert Config.from_env().web_workers == 1, "each would read all sources by itself"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1")
    assert Config.from_env().web_workers == processes


def test_secret_settings_are_not_shown() -> None:
    shown = {field.name.upper() for field in fields(Config) if field.repr}
    assert {name for name, setting in SETTINGS.items() if setting.is_secret} & shown == set()


def test_all_documents_name_settings_that_exist() -> None:
    found = set()
    for path in (ROOT / "docs").rglob("*.md"):
        for table in re.findall(
            r"^\| (?:setting|variable) \|.*\n((?:\|.*\n)+)", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            found |= set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE))
    assert len(found) > 20
    assert found <= set(SETTINGS)

"""How pip builds this tree: installed editable it is everything, a wheel or an archive of it is the engine alone.

``setup.cfg`` says both. For a wheel, each section ``wheel:NAME`` stands in for ``NAME``, and sections ``options.…``
without such a stand-in are left out. The harness of ``routing-engine bench`` comes along under a name of its own:
``benchmarks`` is a name that other projects use too.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from setuptools import build_meta

build_editable = build_meta.build_editable
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
get_requires_for_build_wheel = build_meta.get_requires_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable

PREFIX = "wheel:"

HARNESS, HARNESS_IN_WHEEL = "benchmarks", "routing_engine_benchmarks"
NOT_IN_WHEEL = ("__pycache__", "parts", "published")
"""Folders of the harness that only a tree has: what measures this engine alone needs the tests."""

DESCRIPTION = "docs/routing_engine.md"
"""What an index shows of the engine: the tree's own README is the service's too."""

BUILD_SYSTEM = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
"""


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the engine's wheel and return its name."""
    with engine_tree() as source:
        return build_meta.build_wheel(str(source / wheel_directory), config_settings)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Build the archive of the engine's sources and return its name."""
    with engine_tree() as source:
        return build_meta.build_sdist(str(source / sdist_directory), config_settings)


@contextmanager
def engine_tree() -> Iterator[Path]:
    """Enter a tree with the engine alone, and give the one it was copied from.

    Nothing that an earlier build left behind is in it.
    """
    source = Path.cwd()
    with TemporaryDirectory() as folder, chdir(folder):
        for path, name in ((DESCRIPTION, "README.md"), ("LICENSE", "LICENSE")):
            shutil.copy(source / path, name)
        shutil.copytree(source / "routing_engine", "routing_engine", ignore=shutil.ignore_patterns("__pycache__"))
        copy_harness(source / HARNESS, Path(HARNESS_IN_WHEEL))
        Path("pyproject.toml").write_text(BUILD_SYSTEM)
        with Path("setup.cfg").open("w") as file:
            wheel_settings((source / "setup.cfg").read_text()).write(file)
        yield source


def copy_harness(source: Path, target: Path) -> None:
    """Copy the harness, and let its modules import each other by its name in a wheel."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*NOT_IN_WHEEL))
    for path in target.rglob("*.py"):
        path.write_text(re.sub(rf"\b(from|import) {HARNESS}\b", rf"\1 {HARNESS_IN_WHEEL}", path.read_text()))


def wheel_settings(text: str) -> ConfigParser:
    """Return ``setup.cfg`` as it is for a wheel."""
    whole, settings = read_settings(text), read_settings(text)
    for name in whole.sections():
        if name.startswith(("options.", PREFIX)):
            settings.remove_section(name)
    for name in whole.sections():
        plain = name.removeprefix(PREFIX)
        if plain == name:
            continue
        if not settings.has_section(plain):
            settings.add_section(plain)
        settings[plain].update({key: value or whole[plain][key] for key, value in whole[name].items()})
    entries = settings["options.entry_points"] if settings.has_section("options.entry_points") else {}
    for group, lines in entries.items():
        entries[group] = lines.replace(f"= {HARNESS}.", f"= {HARNESS_IN_WHEEL}.")
    return settings


def read_settings(text: str) -> ConfigParser:
    """Return sections as they are written: nothing is put in for ``%(…)s``, and capitals stay."""
    settings = ConfigParser(interpolation=None)
    settings.optionxform = str  # type: ignore[method-assign, assignment]
    settings.read_string(text)
    return settings

"""No pattern takes longer than its text: what matches it holds all threads of a process up."""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

LENGTH = 60_000
"""As long as a body, a header or an address may be."""
MOST_S = 0.4
"""What is linear takes a few milliseconds; what is quadratic takes more than a second."""
METHODS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "split"}


def list_uses() -> Iterator[tuple[str, str, str]]:
    """Yield the patterns of modules, with how each is used there."""
    for path in sorted(Path("api").rglob("*.py")) + sorted(Path("adapters").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("re.compile(")
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Attribute) and call.attr in METHODS and ast.unparse(call.value) in named:
                yield ".".join(path.with_suffix("").parts), ast.unparse(call.value), call.attr


def write_texts(pattern: re.Pattern[Any]) -> Iterator[Any]:
    """Yield long texts of what stands in a pattern: one character, two in turn, and all of them."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    found = list(dict.fromkeys(written + "a0 "))
    for piece in (*found, *map("".join, pairwise(found)), "".join(found)):
        text = (piece * LENGTH)[:LENGTH] + "\x01"
        yield text if isinstance(pattern.pattern, str) else text.encode("latin-1")


@pytest.mark.parametrize(("module", "name", "method"), sorted(set(list_uses())))
def test_no_pattern_takes_longer_than_its_text(module: str, name: str, method: str) -> None:
    """Found: a moment of sixty thousand letters took three seconds of all threads."""
    pattern = getattr(importlib.import_module(module), name)
    use = getattr(pattern, method)
    for text in write_texts(pattern):
        began = time.process_time()
        use("", text) if method == "sub" else list(use(text) or ()) if method == "finditer" else use(text)
        assert time.process_time() - began < MOST_S, text[:20]

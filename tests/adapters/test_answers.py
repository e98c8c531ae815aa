"""JSON of strangers: how deep it may be nested, whatever Python's recursion limit is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from adapters.http.responses import parse
from routing_engine.nesting import MOST_NESTED


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_is_bounded(opening, closing):
    levels = MOST_NESTED // len([letter for letter in opening if letter in "[{"])
    assert parse(f"{opening * levels}1{closing * levels}".encode())
    with pytest.raises(ValueError, match="nested deeper than 200"):
        parse(f"{opening * (levels + 1)}1{closing * (levels + 1)}".encode())


def test_breadth_is_not():
    assert parse(b"[" + b"[],{}," * 50_000 + b"0]")[-1] == 0
    assert parse(b'{"text": "]]]]' + b"]" * 1000 + b'"}')["text"].startswith("]")


def test_a_raised_recursion_limit_does_not_matter():
    code = """
import sys
sys.setrecursionlimit(10**6)
from adapters.http.responses import parse
for encoding in ("utf-8", "utf-16", "utf-32"):
    try:
        parse(("[" * 10**6).encode(encoding))
    except ValueError as error:
        print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "nested deeper than 200\n" * 3

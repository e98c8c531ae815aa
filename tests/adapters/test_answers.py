"""JSON of strangers: how deep it may be nested, whatever Python's recursion limit is, and how much memory it takes."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import pytest

from adapters.http.responses import MEMORY_SHARE, estimate_memory, parse
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


HASH, ADDRESS = "0x" + "ab" * 32, "0x" + "cd" * 20
CALL = {"type": "CALL", "from": ADDRESS, "to": ADDRESS, "gas": "0x1", "gasUsed": "0x1", "input": "0x", "calls": []}
LOG = {"address": ADDRESS, "topics": [HASH] * 3, "data": HASH, "blockHash": HASH, "logIndex": "0x1", "removed": False}
CHARACTERS = 200_000
SHAPES = ["[]", "{}", '{"a":[]}', '{"a":1}', "0", "1234", "1e9", '""', '"ab"', '"é"', '"😀"', "null", "[[[[]]]]", "[0]"]


REPEATED = [*SHAPES, json.dumps(CALL), json.dumps(LOG)]
LONG, WIDE = "a" * CHARACTERS, "\\ud83d\\ude00"
LINE = "ab\\n"
WHOLE = {
    "one wide character": f'["{LONG}{WIDE}"]',
    "one wide character in capitals": f'["{LONG}\\uD83D\\uDE00"]',
    "one of two bytes": f'["{LONG}\\u4e00"]',
    "one of Latin": f'["{LONG}\\u00e9"]',
    "none": f'["{LONG}"]',
    "line ends": f'["{LINE * (CHARACTERS // 4)}"]',
    "nothing but wide ones": f'["{WIDE * (CHARACTERS // 12)}"]',
    "short keys": "{" + ",".join(f'"{each}":1' for each in range(CHARACTERS // 9)) + "}",
    "keys of their own": "[" + ",".join(f'{{"{each:x}":0}}' for each in range(CHARACTERS // 10)) + "]",
}


def repeat(shape):
    return f"[{','.join([shape] * (CHARACTERS // len(shape)))}]"


@pytest.mark.parametrize("text", [*map(repeat, REPEATED), *WHOLE.values()], ids=[*REPEATED, *WHOLE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-le"])
def test_no_document_takes_more_memory_than_its_text_lets_expect(text, encoding):
    text = text.encode(encoding)
    tracemalloc.start()
    try:
        parse(text)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken <= estimate_memory(text)


@pytest.mark.parametrize("honest", [CALL, LOG])
def test_what_chains_tell_takes_no_more_than_is_allowed(honest):
    text = json.dumps([honest] * 1000).encode()
    assert estimate_memory(text) < MEMORY_SHARE * len(text)
    assert estimate_memory(b"[" + b'{"a":[]},' * 10_000 + b"0]") > 3 * MEMORY_SHARE * 90_000

"""Files of requests: every form gives the same rows, and damage is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from routing_engine import BadRequestFile
from routing_engine.formats.requests import load_requests

ROWS = [
    {"token_in": "WETH", "token_out": "USDC", "amount": "5", "side": "sell"},
    {"token_in": "USDC", "token_out": "WETH", "amount": "7", "side": "exact_out"},
]
NAMES = ["token_in", "token_out", "amount", "side"]
LISTS = [list(row.values()) for row in ROWS]
COLUMNS = json.dumps({"meta": {"columns": [*NAMES[:2], "amount_raw", "side"]}, "rows": LISTS})
CSV = "\ufeffside,token_in,token_out,amount\nsell,WETH,USDC,5\n\nexact_out,USDC,WETH,7\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.jsonl", "\n".join(map(json.dumps, ROWS)) + "\n\n"),
        ("r.NDJSON", "\r\n".join(map(json.dumps, ROWS))),
        ("r.json", json.dumps(ROWS)),
        ("r.json", COLUMNS),
        ("r.csv", CSV),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_every_form_gives_the_same_rows(tmp_path: Path, name: str, text: str, compressed: bool) -> None:
    path = tmp_path / (name + ".gz" * compressed)
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    assert load_requests(path) == ROWS


def test_a_row_of_another_form_comes_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"token_in": \n[1]\n' + json.dumps(ROWS[0]))
    assert load_requests(path) == ['{"token_in": ', [1], ROWS[0]]
    path = tmp_path / "r.csv"
    path.write_text("token_in,token_out,amount\nWETH,USDC\n")
    assert load_requests(path) == [["WETH", "USDC"]]


@pytest.mark.parametrize(
    ("name", "content", "field", "message"),
    [
        ("r.txt", "", "", "neither .jsonl, .json nor .csv"),
        ("r.json", "[", "", "not valid JSON"),
        pytest.param("r.json", f"[{'9' * 5000}]", "", "a number of 5,000 digits at character 1; no amount", id="long"),
        ("r.json", "7", "rows", "array of objects"),
        ("r.json", '{"rows": []}', "meta.columns", "is missing"),
        ("r.json", '{"rows": [], "meta": {"columns": ["token_in", "amount"]}}', "meta.columns", "'token_out'"),
        ("r.csv", "", "", "no column 'token_in'"),
        ("r.csv", "token_in,token_out,side\n", "", "no column 'amount'"),
        ("r.csv", 'token_in,token_out,amount\n"a,b,c\n', "", "is not CSV"),
        ("r.jsonl", b"\xff\xfe", "", "not UTF-8"),
        ("r.csv.gz", gzip.compress(b"token_in" * 99, mtime=0)[:-9], "", "damaged"),
        ("none/r.csv", None, "", "No such file"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: Any, field: str, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadRequestFile, match=message) as caught:
        load_requests(path)
    assert (caught.value.field, caught.value.path) == (field, str(path))

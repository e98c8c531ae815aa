"""Chains that strangers attack, and calls of a contract that does whatever it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from eth_abi import encode

from adapters.http.client import JsonClient
from tests.support.evm import Contract

BASE, ETHEREUM = 8453, 1


def run(contract: Contract, *calls: tuple[str, int, bytes]) -> bytes:
    function = contract.functions["run"]
    return function.selector + encode(function.inputs, (calls,))


@contextmanager
def counted_questions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count what chains are asked meanwhile, by method; each question of a batch is one."""
    asked, post = Counter[str](), JsonClient.post

    def count(self: JsonClient, url: str, body: object) -> object:
        asked.update(each["method"] for each in (body if isinstance(body, list) else [body]))
        return post(self, url, body)

    with monkeypatch.context() as patch:
        patch.setattr(JsonClient, "post", count)
        yield asked

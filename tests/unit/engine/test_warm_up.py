"""Kernels are compiled before they are needed, also where processes can share no memory."""

from __future__ import annotations

import multiprocessing

import pytest

from routing_engine import warm_up


def test_without_shared_memory_one_process_compiles_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    compiled: list[object] = []
    monkeypatch.setattr(type(multiprocessing.get_context("fork")), "Value", refuse)
    monkeypatch.setattr(warm_up, "list_kernels", lambda **_: [("a kernel", ()), ("another", ())])
    monkeypatch.setattr(warm_up, "compile_for", lambda kernel, *_: compiled.append(kernel))
    warm_up._compile_on_two_cores(with_formulas=True)
    assert compiled == ["a kernel", "another"]
    assert capsys.readouterr().err.startswith("Processes can share no memory (Permission denied): one compiles; ")

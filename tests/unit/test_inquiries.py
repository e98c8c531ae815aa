"""Questions of strangers: shared by those who ask the same, and by nobody else."""

from __future__ import annotations

import pytest

from adapters.transactions.reverts import LONGEST_REASON, read_revert
from api.services.chains.inquiries import FRESH_S, Inquiries

BASE = 8453


def test_the_same_question_has_one_answer_and_another_its_own() -> None:
    now, asked = [0.0], []
    inquiries: Inquiries[str] = Inquiries([BASE, 1], most_a_minute=10, stopwatch=lambda: now[0])

    def put(chain_id: int, question: str) -> str | None:
        def ask() -> str:
            asked.append((chain_id, question))
            return f"{question} on {chain_id}"

        inquiry = inquiries.begin(chain_id, question, ask)
        return None if inquiry is None else inquiry.wait(5)

    answers = [put(BASE, "one"), put(BASE, "one"), put(BASE, "two"), put(1, "one")]
    assert answers == ["one on 8453", "one on 8453", "two on 8453", "one on 1"]
    assert asked == [(BASE, "one"), (BASE, "two"), (1, "one")]
    now[0] = FRESH_S + 1
    put(BASE, "one")
    assert len(asked) == 4
    assert put(10, "one") is None, "a chain that is not connected"


def test_a_place_is_given_back_when_nothing_is_found() -> None:
    inquiries: Inquiries[str] = Inquiries([BASE], most_a_minute=100)
    for number in range(20):
        inquiry = inquiries.begin(BASE, number, lambda: None)
        assert inquiry is not None
        assert inquiry.wait(5) is None


def encode_error(text: bytes) -> str:
    return (
        "0x08c379a0" + ((32).to_bytes(32) + len(text).to_bytes(32) + text.ljust(-(-len(text) // 32) * 32, b"\0")).hex()
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (encode_error(b"STF"), "STF"),
        (encode_error(b"x" * LONGEST_REASON), "x" * LONGEST_REASON),
        (encode_error(b"x" * (LONGEST_REASON + 1)), ""),
        (encode_error("\u202edrawer".encode()), ""),
        (encode_error(b"one\ntwo"), ""),
        (encode_error(b"\xff\xfe"), ""),
        ("0x08c379a0", ""),
        ("0x", ""),
        ("0x4e487b71" + "11".rjust(64, "0"), ""),
        ("0xabc", ""),
        ("https://rpc.example/key", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_only_short_plain_words_of_a_contract_are_told(data: object, said: str) -> None:
    assert read_revert(data) == said

"""What blocks are hashed as, beside the libraries that encode anything and grow tries one value after the other."""

from __future__ import annotations

import sys
from typing import Any

import rlp
from hypothesis import given
from hypothesis import strategies as st
from trie.hexary import HexaryTrie

from api.services.ledger.hashes.encoding import encode_rlp
from api.services.ledger.hashes.transactions import encode_transaction
from api.services.ledger.hashes.tries import compute_root

ITEMS = st.recursive(st.binary(max_size=80) | st.integers(0, 2**256 - 1), lambda each: st.lists(each, max_size=20))


@given(ITEMS)
def test_it_encodes_as_the_library_does(item: Any) -> None:
    assert encode_rlp(item) == rlp.encode(item)


def test_it_encodes_what_is_long_as_the_library_does() -> None:
    for item in (
        b"\x7f",
        b"\x80",
        *(b"x" * length for length in (55, 56, 255, 256, 65_536)),
        [[b"x" * 20, []]] * 9_000,
    ):
        assert encode_rlp(item) == rlp.encode(item)


def test_a_list_of_accesses_costs_little_however_long_it_is() -> None:
    """Found: 80,000 of its entries, which cost their sender a few dollars, took more than a second each time."""
    count, calls = 500, 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    entries = [{"address": f"0x{place:040x}", "storageKeys": []} for place in range(count)]
    record = {"type": "0x1", "chainId": "0x1", "input": "0x", "yParity": "0x0", "r": "0x1", "s": "0x1"}
    sys.setprofile(note)
    try:
        encode_transaction({**record, "accessList": entries})
    finally:
        sys.setprofile(None)
    assert calls < 20 * count


@given(st.lists(st.binary(min_size=1, max_size=80), max_size=40))
def test_it_has_the_same_root(values: list[bytes]) -> None:
    assert compute_root(values) == grow(values)


def test_it_has_the_same_root_where_keys_become_longer() -> None:
    values = [bytes([place % 251 + 1]) * (1 + place % 50) for place in range(300)]
    for count in (0, 1, 16, 17, 127, 128, 129, 255, 256, 257, 300):
        assert compute_root(values[:count]) == grow(values[:count])


def grow(values: list[bytes]) -> str:
    trie = HexaryTrie({})
    for place, value in enumerate(values):
        trie[rlp.encode(place)] = value
    return "0x" + trie.root_hash.hex()

"""The trie that is made once has the root of the one that grows by one value after the other."""

from __future__ import annotations

import rlp
from hypothesis import given
from hypothesis import strategies as st
from trie.hexary import HexaryTrie

from api.services.ledger.hashes.tries import compute_root


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

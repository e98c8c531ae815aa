"""Which pairs of listed tokens pools are looked for."""

from __future__ import annotations

from itertools import combinations

from adapters.chain.tokens import MOST_IN_ALL_PAIRS, ChainTokens
from adapters.feed.connect import list_tokens
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.support.scripts import token

COIN, WETH, USDC = CHAINS[1].native_token, CHAINS[1].wrapped_native_token, token_registry.token("USDC", 1)


def test_of_a_short_list_all_pairs_are_looked_for_in_the_order_of_pools():
    tokens = ChainTokens.from_tokens(list_tokens(), 1)
    pairs = list(tokens.list_pairs())
    assert len(tokens) <= MOST_IN_ALL_PAIRS
    assert len(pairs) == len(tokens.list_contracts()) * (len(tokens.list_contracts()) - 1) // 2
    assert all(int(first.address, 16) < int(second.address, 16) for first, second in pairs)
    assert COIN not in {each for pair in pairs for each in pair}
    with_coin = list(tokens.list_pairs(native=True))
    assert {first for first, second in with_coin if COIN in (first, second)} == {COIN}, "its address there is zero"


def test_of_a_long_list_only_pairs_with_a_hub():
    others = [token(number) for number in range(1, 400)]
    tokens = ChainTokens([*others, COIN, WETH, USDC])
    pairs = list(tokens.list_pairs(native=True))
    assert len(pairs) == 3 * len(others) + 3
    assert {frozenset(pair) for pair in pairs if not {WETH, USDC, COIN}.isdisjoint(pair)} == set(map(frozenset, pairs))
    assert {frozenset(pair) for pair in combinations((COIN, WETH, USDC), 2)} <= set(map(frozenset, pairs))


def test_tokens_are_found_by_address_of_any_case():
    tokens = ChainTokens([COIN, WETH])
    assert tokens.find("0x" + WETH.address[2:].upper()) == WETH
    assert tokens.find("0x" + "0" * 40) == COIN
    assert tokens.find_all([WETH.address, "0x" + "1" * 40]) is None
    assert tokens.find_all([WETH.address]) == (WETH,)

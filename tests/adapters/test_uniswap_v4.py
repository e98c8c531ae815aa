"""Which pools of Uniswap v4 are taken up."""

from __future__ import annotations

import pytest
from eth_abi import encode

from adapters.chain.abi import Log
from adapters.chain.tokens import ChainTokens
from adapters.uniswap_v4 import INITIALIZE, UniswapV4
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token

TOKEN = Token(chain_id=1, address="0x" + "a" * 40, symbol="A", decimals=18)
COIN = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
MANAGER, KEY = "0x" + "1" * 40, "0x" + "2" * 64
DYNAMIC = 0x800000


def created(fee: int, hooks: str, currency: str = TOKEN.address) -> Log:
    topics = [INITIALIZE.topic, KEY, *("0x" + encode(["address"], [each]).hex() for each in (ZERO_ADDRESS, currency))]
    data = encode(["uint24", "int24", "address", "uint160", "int24"], [fee, 60, hooks, 2**96, 0])
    return Log(address=MANAGER, topics=tuple(topics), data=data, block_number=1, block_hash="", index=0)


def hook(*bits: int) -> str:
    return f"0x{0xABC << 100 | sum(1 << bit for bit in bits):040x}"


@pytest.mark.parametrize(
    ("fee", "hooks", "currency", "taken"),
    [
        (3000, ZERO_ADDRESS, TOKEN.address, True),
        (0, ZERO_ADDRESS, TOKEN.address, True),
        (3000, hook(13, 12, 11, 10, 9, 8, 5, 4, 1, 0), TOKEN.address, True),
        (3000, hook(7), TOKEN.address, False),
        (3000, hook(6), TOKEN.address, False),
        (3000, hook(3), TOKEN.address, False),
        (3000, hook(2), TOKEN.address, False),
        (DYNAMIC, hook(0), TOKEN.address, False),
        (3000, ZERO_ADDRESS, "0x" + "b" * 40, False),
    ],
)
def test_pools_whose_swaps_nobody_can_foresee_are_left_out(fee, hooks, currency, taken):
    found = UniswapV4(1, MANAGER, MANAGER).created(created(fee, hooks, currency), ChainTokens([TOKEN, COIN]))
    assert (found is not None) == taken
    if found:
        assert (found.key, found.tokens, found.facts) == (KEY, (COIN, TOKEN), (fee, 60))

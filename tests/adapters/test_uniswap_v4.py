"""Which pools of Uniswap v4 are taken up."""

from __future__ import annotations

import pytest
from eth_abi import encode

from adapters.chain.protocol import Pool
from adapters.chain.tokens import ChainTokens
from adapters.dexes.uniswap_v4 import INITIALIZE, LIQUIDITY, SLOT0, TICK_BITMAP, UniswapV4
from adapters.rpc.abi import Log
from adapters.rpc.reading import run
from adapters.rpc.recording import ReplayResponder
from routing_engine.markets.concentrated.pool_key import pool_id
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token
from tests.support.scripts import Script, adapter_of

TOKEN = Token(chain_id=1, address="0x" + "a" * 40, symbol="A", decimals=18)
COIN = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
MANAGER, VIEW, KEY = "0x" + "1" * 40, "0x" + "3" * 40, "0x" + "2" * 64
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
    reading = UniswapV4(1, MANAGER, MANAGER).find_created((created(fee, hooks, currency),), ChainTokens([TOKEN, COIN]))
    found = run(reading, ReplayResponder(()))
    assert found == ((Pool(key=KEY, tokens=(COIN, TOKEN), facts=(fee, 60)),) if taken else ())


def test_pools_with_unusual_fees_are_found_by_their_events():
    script = Script(TOKEN, COIN)
    script.default(SLOT0, VIEW, 0, 0, 0, 0)
    script.default(LIQUIDITY, VIEW, 0)
    script.default(TICK_BITMAP, VIEW, 0)
    script.emit(INITIALIZE, MANAGER, [bytes.fromhex(KEY[2:]), ZERO_ADDRESS, TOKEN.address], [77, 3, ZERO_ADDRESS, 1, 0])
    assert pools_on(script) == {KEY}


def test_where_events_cannot_be_had_the_usual_fees_are_looked_for():
    script = Script(TOKEN, COIN)
    script.default(SLOT0, VIEW, 0, 0, 0, 0)
    usual = pool_id((COIN, TOKEN), 500, 10)
    script.on(SLOT0(VIEW, bytes.fromhex(usual[2:])), 2**96, 0, 0, 500)
    script.default(LIQUIDITY, VIEW, 0)
    script.default(TICK_BITMAP, VIEW, 0)
    script.head, script.widest = 10**6, 100
    assert pools_on(script) == {usual}


def pools_on(script: Script) -> set[str]:
    adapter, _ = adapter_of(script, UniswapV4(1, MANAGER, VIEW))
    adapter.fetch()
    assert adapter.memory is not None
    assert not adapter.memory.faults
    return set(adapter.memory.holdings["uniswap_v4"].pools)

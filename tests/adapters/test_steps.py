"""From block to block on a chain in memory: what is read again, what fails alone, what a recording gives."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters.base import BadPayload, VenueUnavailable
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.sync import RETRY_S
from adapters.chain.tokens import DECIMALS, SYMBOL, ChainTokens
from adapters.dexes import uniswap_v2
from adapters.dexes.uniswap_v2 import UniswapV2
from adapters.rpc.abi import LogFilter
from adapters.rpc.reading import ask_logs
from adapters.rpc.recording import ChainPayload
from adapters.testing import check_parsing
from routing_engine.model import ZERO_ADDRESS
from tests.support.capture import Counting
from tests.support.nodes import block_hash
from tests.support.scripts import Script, adapter_of, address, token

TOKENS = tuple(token(number) for number in (1, 2, 3))
FACTORY, OTHER_FACTORY = address(0xF), address(0xE)
PAIRS = {(0, 1): address(0xA1), (0, 2): address(0xA2), (1, 2): address(0xA3)}


@pytest.fixture
def script() -> Script:
    """One factory with three pairs, and one that is not there."""
    found = Script(*TOKENS)
    for (first, second), pair in PAIRS.items():
        found.on(uniswap_v2.GET_PAIR(FACTORY, TOKENS[first].address, TOKENS[second].address), pair)
        found.on(uniswap_v2.GET_RESERVES(pair), 10**24, 2 * 10**24)
    return found


def protocols() -> tuple[UniswapV2, UniswapV2]:
    return UniswapV2("uniswap_v2", 1, FACTORY, 3000), UniswapV2("sushiswap_v2", 1, OTHER_FACTORY, 3000)


def ready(script: Script) -> tuple[OnChainAdapter, Counting]:
    return adapter_of(script, *protocols())


def reserves(adapter: OnChainAdapter) -> dict[str, int]:
    return {market.id[2:]: market.reserve0 for market in adapter.parse(adapter.fetch()).markets}


def test_a_protocol_that_fails_fails_alone_and_is_tried_again_later(script):
    adapter, counting = ready(script)
    contents = adapter.parse(adapter.fetch())
    assert len(contents.markets) == 3
    assert contents.refused == {"sushiswap_v2:unavailable": 1}
    assert "is there a contract" in adapter.memory.faults["sushiswap_v2"]
    script.default(uniswap_v2.GET_PAIR, OTHER_FACTORY, ZERO_ADDRESS)
    script.mine()
    assert adapter.parse(adapter.fetch()).refused == {"sushiswap_v2:unavailable": 1}
    assert counting.calls == 0, "not at every block"
    script.timestamp += RETRY_S
    script.mine()
    assert adapter.parse(adapter.fetch()).refused == {}


def test_an_event_that_cannot_be_has_its_pool_read_again(script):
    adapter, counting = ready(script)
    adapter.fetch()
    script.emit(uniswap_v2.SYNC, PAIRS[0, 1], [], [5, 6])
    script.logs[-1]["data"] = "0x" + "f" * 128
    script.on(uniswap_v2.GET_RESERVES(PAIRS[0, 1]), 7, 8)
    assert reserves(adapter)[PAIRS[0, 1]] == 7
    assert counting.calls == 1


def test_a_pool_that_cannot_be_read_is_left_out_until_it_can(script):
    script.refuse(uniswap_v2.GET_RESERVES(PAIRS[0, 2]))
    adapter, _ = ready(script)
    contents = adapter.parse(adapter.fetch())
    assert len(contents.markets) == 2
    assert contents.refused["uniswap_v2:unreadable"] == 1
    script.on(uniswap_v2.GET_RESERVES(PAIRS[0, 2]), 1, 2)
    script.emit(uniswap_v2.SYNC, PAIRS[0, 2], [], [3, 4])
    assert reserves(adapter)[PAIRS[0, 2]] == 1, "an event alone does not make a state"


def test_a_token_that_is_not_what_the_list_says_is_left_out(script):
    script.on(DECIMALS(TOKENS[2].address), 6)
    script.on(SYMBOL(TOKENS[0].address), b"T1".ljust(32, b"\0"))
    script.on(SYMBOL(TOKENS[1].address), b"EVIL".ljust(32, b"\0"))
    adapter, _ = ready(script)
    assert set(reserves(adapter)) == {PAIRS[0, 1]}
    odd, left_out = adapter.memory.notes
    assert left_out == f"T3@1 at {TOKENS[2].address} is left out: it has 6 decimals, the list says 18"
    assert odd == f"T2@1 at {TOKENS[1].address} calls itself 'EVIL'"


def test_an_endpoint_that_falls_back_is_not_believed(script):
    adapter, _ = ready(script)
    adapter.fetch()
    before = adapter.memory
    script.head -= 1
    with pytest.raises(VenueUnavailable, match="went back from block 100 to 99"):
        adapter.fetch()
    assert adapter.memory is before


def test_after_a_long_silence_everything_is_read_anew(script):
    adapter, counting = ready(script)
    adapter.fetch()
    whole = counting.calls
    script.timestamp += 2 * 3600
    script.mine()
    adapter.fetch()
    assert counting.calls == whole


def test_everything_is_read_anew_now_and_then(script):
    adapter, counting = ready(script)
    adapter.fetch()
    whole = counting.calls
    for _ in range(7):
        script.timestamp += 3500
        script.mine()
        adapter.fetch()
    script.on(uniswap_v2.GET_RESERVES(PAIRS[0, 1]), 7, 8)
    assert counting.calls == whole
    assert reserves(adapter)[PAIRS[0, 1]] == 10**24


def recorded(script: Script) -> list[ChainPayload]:
    """Capture, then follow three blocks and a reorganisation."""
    adapter, _ = ready(script)
    payloads = [adapter.fetch().recording]
    for number, pair in enumerate(PAIRS.values()):
        script.emit(uniswap_v2.SYNC, pair, [], [1000 + number, 2000])
        payloads.append(adapter.fetch().recording)
    script.logs = [log for log in script.logs if int(log["blockNumber"], 16) < script.head]
    script.fork = "b"
    hashes = script._block
    script._block = lambda which: forked(hashes(which), script.head)
    script.on(uniswap_v2.GET_RESERVES(PAIRS[1, 2]), 77, 78)
    payloads.append(adapter.fetch().recording)
    return payloads


def forked(block: Any, first: int) -> Any:
    """Return a block of the old fork below `first`."""
    if block and int(block["number"], 16) < first:
        return {**block, "hash": block_hash(int(block["number"], 16))}
    return block


def test_a_recording_gives_the_same_without_the_chain(script):
    payloads = recorded(script)
    assert [payload.follows and payload.follows.number for payload in payloads] == [None, 100, 101, 102, 102]
    live, _ = ready(script)
    replayed = []
    for payload in payloads:
        written = json.loads(json.dumps(payload.to_json()))
        replayed.append(live.parse(live.replay(ChainPayload.from_json(written))))
    assert [market.reserve0 for market in replayed[3].markets] == [1000, 1001, 1002]
    assert [market.reserve0 for market in replayed[4].markets] == [1000, 1001, 77], "the last block was abandoned"


def test_the_adapter_conforms(script):
    adapter, _ = ready(script)
    contents = check_parsing(adapter, adapter.fetch())
    assert len(contents.markets) == 3


def test_a_recording_of_something_else_is_refused(script):
    payloads = recorded(script)
    with pytest.raises(BadPayload, match="follows block 100, which was not read here"):
        ready(script)[0].replay(payloads[1])
    with pytest.raises(BadPayload, match="of chain 2"):
        ready(script)[0].replay(replace(payloads[0], chain_id=2))
    with pytest.raises(BadPayload, match="the recording answers"):
        ready(script)[0].replay(replace(payloads[0], replies=payloads[0].replies[:1]))


@pytest.mark.parametrize(
    "damage", [{}, {"chain_id": "x"}, {"replies": [1]}, {"replies": [[["0xz"], []]]}, {"head": []}]
)
def test_a_damaged_recording_is_refused(script, damage):
    written = {**recorded(script)[0].to_json(), **damage} if damage else {}
    with pytest.raises(BadPayload):
        ChainPayload.from_json(written)


class Scanning(UniswapV2):
    """Finds its pairs by their events from the first block on."""

    def discover(self, tokens: ChainTokens) -> Any:
        yield from ask_logs([LogFilter(addresses=self.factories, topics=(self.creations,))])
        return ()


def test_a_protocol_whose_events_take_too_long_fails_alone(script):
    script.head, script.widest = 10_000_000, 5
    adapter, _ = adapter_of(script, protocols()[0], Scanning("scanning", 1, FACTORY, 3000))
    step = adapter.fetch()
    assert len(adapter.parse(step).markets) == 3
    assert "use an endpoint that allows wider ones" in adapter.memory.faults["scanning"]
    again = ChainPayload.from_json(json.loads(json.dumps(step.recording.to_json())))
    other, _ = adapter_of(script, protocols()[0], Scanning("scanning", 1, FACTORY, 3000))
    assert other.parse(other.replay(again)) == adapter.parse(step)

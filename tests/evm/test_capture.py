"""Reading chains with real contracts on them: at every step the engine quotes what the contracts would give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from adapters.chain.gas import GasAdapter
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.formats import Contents
from tests.support.anvil import running_anvil
from tests.support.capture import Counting, Uniswap, adapter_of, quoted, running_uniswap
from tests.support.chain import Chain
from tests.support.evm import ACTOR, FOREVER

CHAINS = (1, 10, 137, 42161, 8453)
AMOUNTS = (1, 10**9, 3 * 10**18 + 7, 10**22, 10**27)
UNIT = 10**18


# One process, so that five chains run once, not once in each.
pytestmark = pytest.mark.xdist_group("capture")


@pytest.fixture(scope="module")
def deployed() -> Iterator[dict[int, Uniswap]]:
    """All five chains at once, each with pools."""
    with ExitStack() as running:
        chains = {chain_id: running.enter_context(running_uniswap(chain_id)) for chain_id in CHAINS}
        for venue in chains.values():
            found_pools(venue)
        yield chains


@pytest.fixture
def venues(deployed: dict[int, Uniswap]) -> Iterator[dict[int, Uniswap]]:
    """The chains for one test, which leaves nothing behind."""
    with ExitStack() as tests:
        yield {chain_id: tests.enter_context(venue.lent()) for chain_id, venue in deployed.items()}


def check_quotes(venue: Uniswap, contents: Contents) -> int:
    """Compare every market, in both directions, with its contract."""
    compared = 0
    assert {market.id.partition(":")[2] for market in contents.markets} == {*venue.pairs, *venue.pools}
    for market in contents.markets:
        for token_in, token_out in (market.tokens, market.tokens[::-1]):
            for amount in AMOUNTS:
                told, wanted = quoted(market, token_in, token_out, amount), venue.ask(market, token_in, amount)
                # Where the liquidity ends contracts fill a part of the amount; the engine declines, as it must.
                assert (told or 0) == (wanted or 0) or (told is None and amount > 10**21), (market.id, amount)
                compared += told is not None
    return compared


def found_pools(venue: Uniswap) -> None:
    """Create the pools that exist before the first capture."""
    venue.add_pair(0, 1, 10**24, 3 * 10**24)
    venue.add_pair(1, 2, 10**23, 10**23)
    for first, second, fee_pips, width in ((0, 1, 500, 200), (0, 1, 3000, 6000), (1, 2, 10_000, 20_000)):
        pool = venue.add_pool(first, second, fee_pips)
        for step in (1, 2, 5):
            pool.mint(-step * width, (7 - step) * width, 10**23, 10**23)


@pytest.mark.parametrize("chain_id", CHAINS)
def test_every_step_is_followed_to_the_unit(venues, chain_id, record_property):
    venue = venues[chain_id]
    counting = Counting()
    adapter = adapter_of(venue, counting)
    compared = check_quotes(venue, adapter.parse(adapter.fetch()))
    wide, narrow = (pool for pool in venue.pools.values() if pool.fee_pips in (500, 3000))

    def in_one_block():
        with venue.chain.one_block():
            wide.trade(False, 10**20, exact_in=True)
            narrow.trade(False, 10**19, exact_in=True)
            wide.mint(-1200, 1200, 10**21, 10**21)

    steps = {
        "nothing happens": lambda: None,
        "an empty block": venue.chain.mine,
        "a v2 swap": lambda: venue.v2.router(
            "swapExactTokensForTokens", 10**21, 0, [t.address for t in venue.contracts[:2]], ACTOR, FOREVER
        ),
        "a v3 swap within a tick": lambda: wide.trade(True, 10**12, exact_in=True),
        "a v3 swap across ticks": lambda: narrow.trade(True, 2 * 10**23, exact_in=True),
        "and back": lambda: narrow.trade(False, 3 * 10**23, exact_in=True),
        "liquidity between new ticks": lambda: narrow.mint(-420, 300, 10**22, 10**22),
        "liquidity taken away": lambda: venue.v3.positions("decreaseLiquidity", (2, 10**20, 0, 0, FOREVER)),
        "three events in one block": in_one_block,
    }
    for name, step in steps.items():
        step()
        contents = adapter.parse(adapter.fetch())
        assert counting.calls == 0, f"{name}: events tell everything, yet calls were made"
        compared += check_quotes(venue, contents)
    record_property("evm_cases", (f"quotes after capture and events, chain {chain_id}", compared))


def test_new_pools_are_found_by_their_event(venues):
    venue = venues[10]
    counting = Counting()
    adapter = adapter_of(venue, counting)
    before = adapter.parse(adapter.fetch())
    venue.add_pair(0, 2, 10**20, 10**20)
    venue.add_pool(0, 2, 3000).mint(-600, 600, 10**20, 10**20)
    after = adapter.parse(adapter.fetch())
    assert len(after.markets) == len(before.markets) + 2
    assert counting.calls < 130, "only the new pools are to be read"
    check_quotes(venue, after)
    kept = {market.id: market for market in after.markets}
    assert all(kept[market.id] is market for market in before.markets), "what has not changed stays the same object"


def test_a_route_gives_on_chain_what_it_promised(venues):
    venue = venues[1]
    adapter = adapter_of(venue)
    token_in, _, token_out = venue.tokens
    for amount in (5 * UNIT, 10**22, 4 * 10**22):
        snapshot = Snapshot(adapter.parse(adapter.fetch()).markets)
        route = Router(snapshot).find_routes(RouteRequest(token_in=token_in, token_out=token_out, amount=amount)).best()
        before = venue.contracts[2]("balanceOf", ACTOR)
        assert [venue.execute(hop) for hop in route.hops] == [hop.amount_out for hop in route.hops]
        assert venue.contracts[2]("balanceOf", ACTOR) - before == route.amount_out


def test_a_reorganised_chain_is_noticed_and_healed(venues):
    venue = venues[137]
    counting = Counting()
    adapter = adapter_of(venue, counting)
    adapter.parse(adapter.fetch())
    key = next(iter(venue.pairs))
    path = [token.address for token in venue.pairs[key]]

    def sell(amount: int) -> None:
        venue.v2.router("swapExactTokensForTokens", amount, 0, path, ACTOR, FOREVER)

    for amount in (10**18, 10**20, 10**21):
        sell(amount)
        contents = adapter.parse(adapter.fetch())
    taken_back = {market.id: market for market in contents.markets}
    venue.chain.rpc("anvil_reorg", 2, [])
    contents = adapter.parse(adapter.fetch())
    check_quotes(venue, contents)
    changed = [market.id for market in contents.markets if market != taken_back[market.id]]
    assert changed == [f"137:{key}"], "two of three swaps never happened"
    assert 0 < counting.calls <= 2, "only the pool that was touched is read again"
    sell(10**19)
    check_quotes(venue, adapter.parse(adapter.fetch()))


def test_a_pool_of_abandoned_blocks_is_withdrawn(venues):
    venue = venues[8453]
    adapter = adapter_of(venue)
    before = adapter.parse(adapter.fetch())
    venue.chain.mine()
    height = venue.chain.number
    key = venue.add_pair(0, 2, 10**20, 10**20)
    assert f"8453:{key}" in {market.id for market in adapter.parse(adapter.fetch()).markets}
    venue.chain.rpc("anvil_reorg", venue.chain.number - height, [])
    del venue.pairs[key]
    after = adapter.parse(adapter.fetch())
    assert after.withdrawn == (f"8453:{key}",)
    assert after.refused == {"uniswap_v2:unreadable": 1}
    assert {m.id for m in after.markets} == {m.id for m in before.markets}
    check_quotes(venue, after)


def test_a_reorganisation_deeper_than_the_journal_is_read_anew(venues):
    venue = venues[42161]
    counting = Counting()
    adapter = adapter_of(venue, counting)
    height = venue.chain.number
    next(iter(venue.pools.values())).trade(True, 10**19, exact_in=True)
    adapter.parse(adapter.fetch())
    capture = counting.calls
    venue.chain.rpc("anvil_reorg", venue.chain.number - height, [])
    check_quotes(venue, adapter.parse(adapter.fetch()))
    assert counting.calls == capture


def test_the_gas_price_is_what_the_next_block_asks():
    with running_anvil(1) as url:
        adapter = GasAdapter(RpcPool(1, [url]))
        (price,) = adapter.parse(adapter.fetch()).gas_prices.values()
        asked = Chain(url, 1).rpc("eth_gasPrice")
    assert 10**9 <= price <= int(asked, 16)

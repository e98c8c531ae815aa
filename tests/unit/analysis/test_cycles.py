"""Loops that pay: every one is found once, and the best amount is the best."""

from __future__ import annotations

import math
from itertools import permutations, product
from random import Random

import pytest

from routing_engine import InvalidRequest, Router, Snapshot, Token
from routing_engine.analysis.cycles import find_cycles
from routing_engine.analysis.loop_search import find_loops, list_directions
from routing_engine.markets import BridgeLane, ConstantProductPool

GWEI = 10**9
TOKENS = [Token(chain_id=1, address=f"0x{n:040x}", symbol=f"T{n}", decimals=18) for n in range(1, 6)]
COIN = Token(chain_id=1, address="0x" + "ee" * 20, symbol="ETH", decimals=18)


def pool(
    name: str, first: Token, second: Token, reserves: tuple[int, int], fee_pips: int = 3000
) -> ConstantProductPool:
    return ConstantProductPool(
        id=f"1:{name}", protocol="uniswap_v2", token0=first, token1=second,
        reserve0=reserves[0], reserve1=reserves[1], fee_pips=3000,
    )  # fmt: skip


def triangle(third: int, *, scale: int = 10**18) -> list[ConstantProductPool]:
    one, two, three = TOKENS[:3]
    return [
        pool("a", one, two, (1000 * scale, 1000 * scale)),
        pool("b", two, three, (1000 * scale, 1000 * scale)),
        pool("c", three, one, (1000 * scale, third * scale)),
    ]


def draw_market(seed: int) -> list[ConstantProductPool]:
    dice = Random(seed)
    pools = []
    for number in range(9):
        first, second = dice.sample(TOKENS, 2)
        reserves = dice.randint(10**20, 10**22), dice.randint(10**20, 10**22)
        pools.append(pool(f"{number}", first, second, reserves))
    return pools


def list_loops_by_trying(markets: list[ConstantProductPool], max_hops: int) -> dict[frozenset[tuple[str, str]], float]:
    """Every choice of tokens in a circle, and of markets between them."""
    found = {}
    for size in range(2, max_hops + 1):
        for tokens in permutations(TOKENS, size):
            ends = list(zip(tokens, (*tokens[1:], tokens[0]), strict=True))
            ways = [[each for each in markets if set(end) == set(each.tokens)] for end in ends]
            for way in product(*ways):
                gain = math.prod(each.spot_price(*end) for each, end in zip(way, ends, strict=True))
                if gain > 1 and len({each.id for each in way}) == size:
                    found[frozenset((each.id, end[0].key) for each, end in zip(way, ends, strict=True))] = gain
    return found


@pytest.mark.parametrize("max_hops", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_every_loop_is_found_once(seed: int, max_hops: int) -> None:
    markets = draw_market(seed)
    expected = list_loops_by_trying(markets, max_hops)
    loops = find_loops(list_directions(markets, is_bridge_allowed=False), max_hops, 100_000)
    assert len(loops) == len(expected)
    assert expected, "the test needs loops"
    for gain, loop in loops:
        key = frozenset((each.market.id, each.token_in.key) for each in loop)
        assert math.exp(gain) == pytest.approx(expected[key])
    assert [gain for gain, _ in loops] == sorted((gain for gain, _ in loops), reverse=True)
    few = find_loops(list_directions(markets, is_bridge_allowed=False), max_hops, 2)
    assert [gain for gain, _ in few] == [gain for gain, _ in loops[:2]]


def test_the_best_amount_is_the_best() -> None:
    markets = triangle(1100)
    (cycle,) = find_cycles(Router(Snapshot(markets)))
    assert cycle.path is not None
    best = cycle.path.amount_in

    def gain(amount: int) -> int:
        reached = amount
        for hop, market in zip(cycle.path.hops, markets, strict=True):
            reached = market.swap_exact_in(hop.token_in, hop.token_out, reached)[0].amount_out
        return reached - amount

    assert cycle.profit == gain(best)
    assert cycle.profit >= max(gain(best * (1000 + step) // 1000) for step in range(-900, 3000)) - 2
    assert cycle.spot_gain_bps == pytest.approx((1.1 * 0.997**3 - 1) * 10_000)
    assert not cycle.pays, "what gas costs is not known"


def test_gas_decides_whether_it_pays() -> None:
    markets = [*triangle(1100), pool("coin", COIN, TOKENS[0], (10**21, 10**21))]
    cheap = find_cycles(Router(Snapshot(markets, gas_prices={1: GWEI})))
    dear = find_cycles(Router(Snapshot(markets, gas_prices={1: 10**6 * GWEI})))
    assert len(cheap) == len(dear) == len(cheap.paying) == 1
    assert dear.paying == ()
    assert cheap.cycles[0].profit == dear.cycles[0].profit
    assert dear.cycles[0].profit_net < 0
    assert repr(dear) == "Cycles(1 loops by spot prices, 0 pay after gas)"
    unknown = find_cycles(Router(Snapshot(triangle(1100), gas_prices={1: GWEI})))
    assert repr(unknown) == "Cycles(1 loops by spot prices, 0 pay after gas; of 1 what gas costs is unknown)"
    assert unknown.to_frame()["gas_priced"].tolist() == [False]


def test_prices_that_agree_make_no_loops() -> None:
    assert len(find_cycles(Router(Snapshot(triangle(1000))))) == 0
    assert len(find_cycles(Router(Snapshot(triangle(1009))))) == 0, "fees are 90 bps"


def test_a_gain_that_rounding_takes_is_no_gain() -> None:
    (cycle,) = find_cycles(Router(Snapshot(triangle(1011, scale=1))))
    assert cycle.path is None
    assert cycle.profit == cycle.profit_net == 0
    assert "no amount gains a unit" in repr(cycle)


def test_loops_over_bridges_are_asked_for() -> None:
    there = Token(chain_id=10, address=TOKENS[1].address, symbol="T2", decimals=18)
    back = Token(chain_id=10, address=TOKENS[0].address, symbol="T1", decimals=18)
    lanes = [
        BridgeLane(id="lane:1", protocol="across", token_in=TOKENS[1], token_out=there, fill_time_s=60, gas=10**5),
        BridgeLane(id="lane:2", protocol="across", token_in=back, token_out=TOKENS[0], fill_time_s=60, gas=10**5),
    ]
    near = pool("near", TOKENS[0], TOKENS[1], (10**21, 10**21))
    far = ConstantProductPool(
        id="10:far", protocol="uniswap_v2", token0=there, token1=back, reserve0=10**21, reserve1=11 * 10**20,
        fee_pips=3000,
    )  # fmt: skip
    router = Router(Snapshot([near, far, *lanes]))
    assert len(find_cycles(router, max_hops=4)) == 0
    assert len(find_cycles(router, max_hops=4, is_bridge_allowed=True)) == 1


def test_as_a_table_and_with_progress() -> None:
    told: list[tuple[int, int]] = []
    cycles = find_cycles(Router(Snapshot(draw_market(1))), progress=lambda done, of: told.append((done, of)))
    frame = cycles.to_frame()
    assert len(frame) == len(cycles) == len(told)
    assert list(frame["profit"]) == [cycle.profit for cycle in cycles]
    assert told[-1] == (len(cycles), len(cycles))


@pytest.mark.parametrize(("option", "value"), [("max_hops", 1), ("max_hops", 7), ("max_loops", 0), ("max_hops", 2.0)])
def test_bounds_are_named(option: str, value: object) -> None:
    with pytest.raises(InvalidRequest) as refused:
        find_cycles(Router(Snapshot(triangle(1100))), **{option: value})  # type: ignore[arg-type]
    assert refused.value.field == option

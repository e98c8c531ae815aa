"""Backtests on a market of one pair, where every fill is known in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from routing_engine import NATIVE_ADDRESS, History, HistoryWriter, InvalidRequest, Route, Router, RouteRequest, Snapshot
from routing_engine.amm.constant_product import get_amount_out
from routing_engine.backtest.backtest import Backtest, backtest, trade_every
from routing_engine.backtest.portfolio import Portfolio
from routing_engine.markets import ConstantProductPool
from routing_engine.model import Token
from routing_engine.pictures.curves import draw_equity
from routing_engine.reference.chains import CHAINS

WETH = CHAINS[1].wrapped_native_token
COIN = CHAINS[1].native_token
USD = Token(chain_id=1, address="0x" + "d0" * 20, symbol="USDX", decimals=6)
ETH, DOLLAR, GAS_PRICE = 10**18, 10**6, 10**10
POOL = ConstantProductPool(
    id="1:pair", protocol="uniswap_v2", token0=WETH, token1=USD, reserve0=1_000 * ETH, reserve1=2_000_000 * DOLLAR,
    fee_pips=3000,
)  # fmt: skip
REQUEST = RouteRequest(token_in=USD, token_out=WETH, amount=10_000 * DOLLAR)
PRICES_BPS = [0, 10, -20, 40, 2_000, 0, 0]
"""How much more dollars the pool holds than at first, block by block."""


def pool_at(place: int) -> ConstantProductPool:
    return replace(POOL, reserve1=POOL.reserve1 * (10_000 + PRICES_BPS[place]) // 10_000)


@pytest.fixture
def history(tmp_path: Path) -> History:
    snapshot = Snapshot([POOL], gas_prices={1: GAS_PRICE}, blocks={1: 100})
    with HistoryWriter(tmp_path / "pair.recording", 1) as writer:
        writer.append(snapshot)
        for place in range(1, 7):
            gone = ["1:pair"] if place == 6 else []
            changed = [] if place == 6 else [pool_at(place)]
            snapshot = snapshot.apply(changed, removed=gone, blocks={1: 100 + place})
            writer.append(snapshot)
    return History.open(tmp_path / "pair.recording")


def give(place: int, amount: int = 10_000 * DOLLAR) -> int:
    pool = pool_at(place)
    return get_amount_out(amount, pool.reserve1, pool.reserve0, 3000)


def buy_at(*blocks: int, count: int = 1) -> Callable[[Router, int, Portfolio], Iterable[RouteRequest | Route]]:
    return lambda router, block, portfolio: [REQUEST] * count if block in blocks else []


def run(history: History, strategy: object, **options: object) -> Backtest:
    given = {"value_in": "USDX@1", **options}
    return backtest(history, strategy, {"USDX@1": 100_000 * DOLLAR}, **given)  # type: ignore[arg-type]


def test_a_fill_is_what_the_later_market_gives(history: History) -> None:
    for latency in (1, 2):
        done = run(history, buy_at(100), latency=latency)
        (trade,) = done.trades
        assert (trade.decided_block, trade.filled_block, trade.status) == (100, 100 + latency, "filled")
        assert (trade.expected, trade.amount_out) == (give(0), give(latency))
        assert trade.minimum == give(0) * 9_950 // 10_000
        assert (trade.gas, trade.gas_paid) == (POOL.gas, POOL.gas * GAS_PRICE)
        assert done.portfolio[USD] == 90_000 * DOLLAR
        assert done.portfolio[WETH] == give(latency)
        assert done.portfolio[COIN] == -POOL.gas * GAS_PRICE
    assert COIN.address == NATIVE_ADDRESS


def test_gas_prices_may_be_other_ones(history: History) -> None:
    done = run(history, buy_at(100), gas_prices={1: 3 * GAS_PRICE})
    assert done.trades[0].gas_paid == 3 * POOL.gas * GAS_PRICE == -done.portfolio[COIN]


def test_too_little_fails_and_costs_gas(history: History) -> None:
    """At block 104 the pool gives a fifth less."""
    done = run(history, buy_at(103))
    (trade,) = done.trades
    assert (trade.status, trade.reason, trade.amount_out) == ("failed", "SLIPPAGE", 0)
    assert dict(done.portfolio) == {USD: 100_000 * DOLLAR, COIN: -POOL.gas * GAS_PRICE}
    (trade,) = run(history, buy_at(103), slippage_bps=2_000).trades
    assert trade.status == "filled"
    exact = 10_000 - give(4) * 10_000 / give(3)
    assert run(history, buy_at(103), slippage_bps=exact - 0.01).trades[0].status == "failed"
    assert run(history, buy_at(103), slippage_bps=exact + 0.01).trades[0].status == "filled"


def test_a_market_that_is_gone_fails_and_one_that_never_was_costs_nothing(history: History) -> None:
    done = run(history, lambda router, block, portfolio: [first] if block == 105 else keep(router, block))
    (trade,) = done.trades
    assert (trade.status, trade.reason, trade.market_id) == ("failed", "MARKET_GONE", "1:pair")
    assert trade.gas_paid == POOL.gas * GAS_PRICE
    assert done.equity.values[-1] != done.equity.values[-1], "nothing has a price any more"


first: Route


def keep(router: Router, block: int) -> list[Route]:
    global first
    if block == 100:
        first = router.find_routes(REQUEST).best()
    return []


def test_what_cannot_be_sent_costs_nothing_and_what_is_late_is_pending(history: History) -> None:
    huge = replace(REQUEST, amount=100_001 * DOLLAR)
    own = replace(REQUEST, max_price_impact_bps=0.001)
    wanted: dict[int, list[RouteRequest]] = {100: [huge, own], 105: [REQUEST]}
    done = run(history, lambda router, block, portfolio: wanted.get(block, []), latency=2)
    assert [(trade.status, trade.reason, trade.gas_paid) for trade in done.trades] == [
        ("not_sent", "NO_FUNDS", 0), ("not_sent", "PRICE_IMPACT_TOO_HIGH", 0), ("pending", "", 0),
    ]  # fmt: skip
    frame = done.to_frame()
    assert frame["status"].tolist() == ["not_sent", "not_sent", "pending"]
    assert frame["amount_in"].tolist() == [100_001 * DOLLAR, 0, 10_000 * DOLLAR]
    assert repr(done).startswith("Backtest(3 trades: 2 not_sent, 1 pending; Equity(100,000 to ")
    assert done.portfolio[USD] == 90_000 * DOLLAR, "the rest is put aside"
    free = run(history, trade_every(9, REQUEST), gas_prices={1: 0})
    assert repr(free).endswith(f"; gas of {len(free.trades)} counted as free)")


def test_own_trades_move_the_market_within_a_block_only(history: History) -> None:
    done = run(history, buy_at(100, 101, count=2), slippage_bps=200)
    got = [trade.amount_out for trade in done.trades]
    pool, expected = pool_at(1), []
    for _ in range(2):
        hop, pool = pool.swap_exact_in(USD, WETH, 10_000 * DOLLAR)
        expected.append(hop.amount_out)
    assert got[:2] == expected
    assert got[2] == give(2), "the recorded market took over again"
    assert got[3] < got[2]


def test_equity_counts_all_that_there_is(history: History) -> None:
    equity = run(history, buy_at(100), latency=2).equity
    values = dict(zip(equity.blocks, equity.values, strict=True))
    assert values[100] == values[101] == 100_000, "what is on its way is counted"
    price = pool_at(2).reserve1 / pool_at(2).reserve0
    expected = 90_000 + (give(2) - POOL.gas * GAS_PRICE) * price / DOLLAR
    assert values[102] == pytest.approx(expected, rel=1e-9)
    assert equity.to_frame()["value"].tolist()[:6] == list(equity.values[:6])


def test_the_same_gives_the_same(history: History) -> None:
    assert len({repr(run(history, trade_every(2, REQUEST)).trades) for _ in range(2)}) == 1
    last = run(history, trade_every(2, REQUEST)).trades[-1]
    assert (last.decided_block, last.status, last.reason) == (106, "not_sent", "NO_ROUTE"), "no market has the token"
    told: list[tuple[int, int]] = []
    strategy = trade_every(3, REQUEST)
    runs = [run(history[:6], strategy, progress=lambda *counts: told.append(counts)) for _ in range(2)]
    assert [[trade.decided_block for trade in each.trades] for each in runs] == [[100, 103]] * 2
    assert told == [(done, 6) for done in range(1, 7)] * 2


def test_a_picture_marks_fills_and_failures(history: History) -> None:
    mpl.use("svg")
    ax = draw_equity(run(history[:6], buy_at(100, 103)))
    try:
        value, filled, failed = ax.lines
        assert list(value.get_xdata()) == list(range(100, 106))
        assert (list(filled.get_xdata()), list(failed.get_xdata())) == ([101], [104])
        assert filled.get_marker() != failed.get_marker()
        assert "USDX@1" in ax.get_ylabel()
    finally:
        plt.close("all")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"latency": 0}, "latency"), ({"latency": True}, "latency"), ({"slippage_bps": -1}, "slippage_bps"),
        ({"slippage_bps": 10_001}, "slippage_bps"), ({"value_in": "NONE@1"}, "NONE"),
        ({"strategy": lambda *_: ["buy"]}, "strategy"), ({"strategy": lambda *_: None}, "strategy"),
        ({"history": slice(0)}, "history"), ({"portfolio": {"USDX@1": 1.5}}, "portfolio"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(history: History, options: dict[str, object], named: str) -> None:
    given: dict[str, object] = {"portfolio": {USD: 10**12}, "strategy": buy_at(100), "value_in": USD, **options}
    if isinstance(given.get("history"), slice):
        history = history[given.pop("history")]  # type: ignore[index]
    with pytest.raises(InvalidRequest, match=named):
        backtest(history, **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="every"):
        trade_every(0, REQUEST)

"""Several strategies on one history give what each gives alone: in threads, in processes, on a Dask cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from distributed import Client, LocalCluster

from routing_engine import History, HistoryWriter, InvalidRequest, Router, RouteRequest, Snapshot
from routing_engine.analysis.sweeps import sweep
from routing_engine.backtest.backtest import Strategy, backtest, trade_every
from routing_engine.backtest.several import backtest_many

pytestmark = pytest.mark.xdist_group("dask")
BLOCKS = 5
SNAPSHOT = Snapshot.sandbox().apply(blocks={1: 100})
WETH, USDC = SNAPSHOT.token("WETH@1"), SNAPSHOT.token("USDC@1")
REQUEST = RouteRequest(token_in=WETH, token_out=USDC, amount=WETH.units(20), max_hops=1)
FUNDS = {"WETH@1": WETH.units(100)}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    path = tmp_path_factory.mktemp("several") / "sandbox.recording"
    snapshot = SNAPSHOT
    pools = [each for each in snapshot.markets.values() if {WETH, USDC} <= set(each.tokens)]
    with HistoryWriter(path, chain_id=1) as writer:
        writer.append(snapshot)
        for number in range(1, BLOCKS):
            pool = snapshot.markets[pools[number].id]
            _, after = pool.swap_exact_in(WETH, USDC, WETH.units(50))
            snapshot = snapshot.apply([after], blocks={1: 100 + number})
            writer.append(snapshot)
    return History.open(path)


@pytest.fixture(scope="module")
def dask() -> Iterator[Executor]:
    """Two processes of a cluster on this machine."""
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )  # fmt: skip
    with cluster, Client(cluster) as client:
        yield client.get_executor()


def list_strategies() -> dict[str, Strategy]:
    return {f"every {count}": trade_every(count, REQUEST) for count in (1, 2, 9)}


def test_a_history_travels_as_the_name_of_its_file(history: History) -> None:
    part = history[1:4]
    assert len(history.at(102).markets) > 1_000
    text = pickle.dumps(part)
    assert len(text) < 1_000
    copy = pickle.loads(text)
    assert copy.blocks == part.blocks
    assert [snapshot.id for snapshot in copy] == [snapshot.id for snapshot in part]


def test_threads_and_processes_give_what_each_gives_alone(history: History) -> None:
    alone = {
        name: backtest(history, strategy, FUNDS, value_in="USDC@1") for name, strategy in list_strategies().items()
    }
    told: list[tuple[int, int]] = []
    for executor in (None, ProcessPoolExecutor(2, mp_context=get_context("spawn"))):
        done = backtest_many(
            history, list_strategies(), FUNDS, value_in="USDC@1", executor=executor,
            progress=lambda *count: told.append(count),
        )  # fmt: skip
        assert dict(zip(done.names, done.backtests, strict=True)) == alone
        assert done["every 2"] == alone["every 2"]
        if executor:
            executor.shutdown()
    assert told == [(1, 3), (2, 3), (3, 3)] * 2
    frame = done.to_frame().set_index("strategy")
    assert frame["trades"].to_dict() == {"every 1": 5, "every 2": 3, "every 9": 1}
    assert (frame[["filled", "failed", "not_sent", "pending"]].sum(axis=1) == frame["trades"]).all()
    assert frame.loc["every 9", "change"] == alone["every 9"].equity.change
    assert repr(done) == "Backtests(every 1, every 2, every 9)"


def test_a_dask_cluster_gives_the_same(history: History, dask: Executor) -> None:
    router = Router(SNAPSHOT)
    amounts = [WETH.units(number) for number in range(1, 41)]
    told: list[int] = []
    quotes = router.quote_many(
        WETH, USDC, amounts, max_hops=2, executor=dask, workers=2, progress=lambda done, _: told.append(done)
    )
    assert quotes.results == router.quote_many(WETH, USDC, amounts, max_hops=2).results
    assert told == [*range(1, 41)]
    options = {"amount": amounts[:4], "max_splits": [1, 5]}
    swept = sweep(router, REQUEST, executor=dask, workers=2, **options)
    assert swept.quotes.results == sweep(router, REQUEST, **options).quotes.results
    alone = backtest_many(history, list_strategies(), FUNDS, value_in="USDC@1")
    notebook = {**list_strategies(), "never": lambda router, block, portfolio: []}
    spread = backtest_many(history, notebook, FUNDS, value_in="USDC@1", executor=dask)
    assert spread.backtests[:3] == alone.backtests
    assert spread["never"].trades == ()


def test_what_is_wrong_is_named(history: History) -> None:
    for wrong, named in (
        ({"strategies": {}}, "strategies"),
        ({"executor": 2}, "executor"),
        ({"latency": 0}, "latency"),
    ):
        arguments = {"strategies": list_strategies(), **wrong}
        with pytest.raises(InvalidRequest) as raised:
            backtest_many(history, arguments.pop("strategies"), FUNDS, value_in="USDC@1", **arguments)
        assert raised.value.field == named

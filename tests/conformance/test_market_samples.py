"""The markets that are measured: every kind is among them, and they do what their names say."""

from __future__ import annotations

import pytest

from benchmarks.market_kinds import Sample, amount_across, laddered_pool, samples
from routing_engine.markets import installed_kinds


def test_every_kind_is_measured() -> None:
    assert {type(sample.market) for sample in samples()} == {kind.market for kind in installed_kinds().values()}


@pytest.mark.parametrize("sample", tuple(samples()), ids=lambda sample: sample.name)
def test_samples_are_ordinary_trades(sample: Sample) -> None:
    """Quoted both ways, in float64 to a billionth, and small beside the pool."""
    way = (sample.token_in, sample.token_out)
    hop, _ = sample.market.swap_exact_in(*way, sample.amount)
    assert 0 <= hop.price_impact < 0.03
    least, _ = sample.market.swap_exact_out(*way, hop.amount_out)
    assert least.amount_in <= sample.amount
    assert sample.market.curve(*way)(float(sample.amount)) == pytest.approx(hop.amount_out, rel=1e-9)


@pytest.mark.parametrize("ticks", [1, 5, 50])
def test_the_concentrated_pool_crosses_so_many_ticks(ticks: int) -> None:
    pool = laddered_pool()
    pool.validate()
    amount = amount_across(pool, ticks)
    assert pool.swap_exact_in(pool.token0, pool.token1, amount)[1].tick < pool.tick - 10 * (ticks - 1)
    hop = pool.swap_exact_in(pool.token0, pool.token1, amount)[0]
    assert hop.gas == pool.gas + pool.gas_per_step * ticks

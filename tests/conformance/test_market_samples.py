"""The markets that are measured: every kind is among them, and they do what their names say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks.parts.market_kinds import Sample, amount_across, laddered_pool, samples
from routing_engine.market import Market
from routing_engine.markets import ConstantProductPool, NativeWrap, installed_kinds
from routing_engine.markets.common.canonical_text import TextWriter, write_canonical_text


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


@pytest.mark.parametrize("sample", tuple(samples()), ids=lambda sample: sample.name)
def test_the_text_of_a_state_is_its_record_and_decimals(sample: Sample) -> None:
    assert write_canonical_text(sample.market) == _encode(sample.market)


def test_names_of_all_letters_are_written_as_json_has_them() -> None:
    pool = next(sample.market for sample in samples() if isinstance(sample.market, ConstantProductPool))
    odd = replace(pool, id='1:"%s\\ ü', protocol="100 %")
    assert write_canonical_text(odd) == _encode(odd)


@pytest.mark.parametrize("sample", tuple(samples()), ids=lambda sample: sample.name)
def test_later_states_are_written_as_they_are_by_themselves(sample: Sample) -> None:
    write = TextWriter().write
    way, market = (sample.token_in, sample.token_out), sample.market
    for state in (market, market.swap_exact_in(*way, sample.amount)[1], market):
        assert write(state) == _encode(state)


def test_other_decimals_or_another_kind_under_an_id_are_written_anew() -> None:
    pool = next(sample.market for sample in samples() if isinstance(sample.market, ConstantProductPool))
    write = TextWriter().write
    relabelled = replace(pool, token1=replace(pool.token1, decimals=pool.token1.decimals + 1))
    wrap = replace(next(sample.market for sample in samples() if isinstance(sample.market, NativeWrap)), id=pool.id)
    for state in (pool, relabelled, replace(pool, fee_pips=pool.fee_pips + 1), wrap, pool):
        assert write(state) == _encode(state)


def _encode(market: Market) -> str:
    record = market.to_record() | {"decimals": [token.decimals for token in market.tokens]}
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("ticks", [1, 5, 50])
def test_the_concentrated_pool_crosses_so_many_ticks(ticks: int) -> None:
    pool = laddered_pool()
    pool.validate()
    amount = amount_across(pool, ticks)
    assert pool.swap_exact_in(pool.token0, pool.token1, amount)[1].tick < pool.tick - 10 * (ticks - 1)
    hop = pool.swap_exact_in(pool.token0, pool.token1, amount)[0]
    assert hop.gas == pool.gas + pool.gas_per_step * ticks

"""Exact quotes, float curves and updates of every kind of market; `report_markets` tabulates the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.parts.market_kinds import Sample, samples
from benchmarks.parts.market_updates import recordings, replay

SAMPLES = pytest.mark.parametrize("sample", tuple(samples()), ids=lambda sample: sample.name)
MARKETS = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[3] / "shared")) / "markets"
needs_recordings = pytest.mark.skipif(not MARKETS.is_dir(), reason="no recorded data")


@pytest.mark.benchmark(group="exact quotes of an input")
@SAMPLES
def test_exact_in(benchmark: BenchmarkFixture, sample: Sample) -> None:
    benchmark(sample.market.swap_exact_in, sample.token_in, sample.token_out, sample.amount)


@pytest.mark.benchmark(group="exact quotes of an output, least input found")
@SAMPLES
def test_exact_out(benchmark: BenchmarkFixture, sample: Sample) -> None:
    hop, _ = sample.market.swap_exact_in(sample.token_in, sample.token_out, sample.amount)
    benchmark(sample.market.swap_exact_out, sample.token_in, sample.token_out, hop.amount_out)


@pytest.mark.benchmark(group="float curves, built anew")
@SAMPLES
def test_curve(benchmark: BenchmarkFixture, sample: Sample) -> None:
    benchmark(sample.market.curve, sample.token_in, sample.token_out)


@pytest.mark.benchmark(group="recorded blocks, applied to a market")
@needs_recordings
def test_recorded_blocks(benchmark: BenchmarkFixture) -> None:
    found = list(recordings(MARKETS))
    benchmark.pedantic(lambda: [replay(recording) for recording in found], rounds=5)
    benchmark.extra_info["states"] = sum(recording.states for recording in found)

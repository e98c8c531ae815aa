"""Only an integer may promise: neither a state nor an amount of a market is anything else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.parts.market_kinds import Sample, samples
from routing_engine import InvalidMarket, InvalidRequest
from tests.support.markets import market_of

(POOL, LANE) = market_of("ab: A B 1000 2000 30bps\nlane: A@1 > A@10 fee=1 10bps 60s")


@pytest.mark.parametrize("sample", tuple(samples()), ids=lambda sample: sample.name)
@pytest.mark.parametrize("amount", [1.5e6, np.int64(10**6), "1000000", True, None])
def test_an_amount_that_is_no_integer_is_refused_by_every_kind(sample: Sample, amount: Any) -> None:
    for swap in (sample.market.swap_exact_in, sample.market.swap_exact_out):
        with pytest.raises(InvalidRequest, match=r"^amount: must be an int in smallest units, not "):
            swap(sample.token_in, sample.token_out, amount)


@pytest.mark.parametrize("value", [1.5, 10.0**18, np.int64(5), "5", True, None])
@pytest.mark.parametrize("field", ["reserve0", "fee_pips", "gas"])
def test_a_pool_of_what_is_no_integer_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidMarket, match=f"^{field}: must be an int, not "):
        replace(POOL, **{field: value})


def test_a_lane_of_what_is_no_integer_is_refused() -> None:
    with pytest.raises(InvalidMarket, match=r"^max_amount_in: must be an int, not 1e\+18"):
        replace(LANE, max_amount_in=1e18)

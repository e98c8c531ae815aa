"""The gas of a concentrated pool's curve is that of the exact swap, with the stops at edges of bitmap words."""

from __future__ import annotations

import random

import numpy as np
import pytest

from routing_engine.amm.concentrated.tick_math import sqrt_ratio_at_tick
from routing_engine.markets import ConcentratedPool
from routing_engine.markets.concentrated.curve import WORD_EDGES
from tests.support.strategies import make_token

FIRST, SECOND = make_token(1), make_token(2)
RANGE = 40_000


def pool(rng: random.Random, spacing: int) -> ConcentratedPool:
    """A pool of one wide range, and of another inside it now and then."""
    tick = rng.randint(-5_000, 5_000)
    inner = rng.randint(1, 40) * 60
    wide, narrow = RANGE // spacing * spacing, inner // spacing * spacing
    nets = {-wide: 10**24, wide: -(10**24)}
    if rng.random() < 0.5:
        nets |= {-narrow: 10**23, narrow: -(10**23)}
    below, above = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    return ConcentratedPool(
        id="pool", protocol="uniswap_v3", token0=FIRST, token1=SECOND, fee_pips=3000, tick_spacing=spacing, tick=tick,
        sqrt_price_x96=rng.randrange(below, above), ticks=tuple(sorted(nets.items())),
        liquidity=sum(net for index, net in nets.items() if index <= tick),
    )  # fmt: skip


@pytest.mark.parametrize("spacing", [1, 10, 60])
def test_each_stop_of_the_loop_is_a_piece(spacing: int) -> None:
    rng = random.Random(spacing)
    stops = set()
    for _ in range(60):
        market = pool(rng, spacing)
        for token_in, token_out in ((FIRST, SECOND), (SECOND, FIRST)):
            curve = market.curve(token_in, token_out)
            for _ in range(5):
                amount = int(10 ** rng.uniform(18, 24))
                row = int(np.searchsorted(curve.pieces[:, 0], amount, side="right")) - 1
                hop, _ = market.swap_exact_in(token_in, token_out, amount)
                exact = (hop.gas - market.gas) // market.gas_per_step - 1
                if exact < WORD_EDGES:
                    assert row == exact
                else:
                    assert WORD_EDGES <= row <= exact
                stops.add(exact)
    assert {0, 1, 2} <= stops

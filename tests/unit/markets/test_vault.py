"""Vaults: published answers, bounds against vaults computed in full, limits, impossible states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from routing_engine.amm.vault import best_rate
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.market import UNLIMITED
from routing_engine.markets.vault import Vault
from tests.support.strategies import magnitudes, make_token

USDC, SUSDC = make_token(1, 6), make_token(2, 18)
# Spark's sUSDC at block 24721174.
POOL = Vault(
    id="1:0xvault",
    protocol="erc4626",
    asset=USDC,
    share=SUSDC,
    asset_price=0xCB903B0D2F14489,
    share_price=1_090_788,
    max_deposit=10**15,
    max_redeem=10**27,
)


def test_an_answer_of_a_vault_at_another_amount(record_property):
    """pufETH at block 23319067: previewDeposit of 1e30 gave the rate, and of 1.1e18 what a simulator states.

    KyberSwap dex-lib, erc4626/pool_simulator_test.go.
    """
    record_property("vector_cases", ("erc-4626: answers of deployed vaults", 1))
    rate = (945745537757005980110202556790, 10**30)
    assert 11 * 10**17 * rate[0] // rate[1] == 1040320091532706578
    pufeth = replace(
        POOL, asset=make_token(3), share=make_token(4), asset_price=945745537757005980,
        share_price=1046793202268710558, max_deposit=UNLIMITED,
    )  # fmt: skip
    hop, _ = pufeth.swap_exact_in(pufeth.asset, pufeth.share, 11 * 10**17)
    assert hop.amount_out == 1040320091532706578


def test_the_longer_answer_gives_the_digits():
    hop, _ = POOL.swap_exact_in(SUSDC, USDC, 10**24)
    assert hop.amount_out == 10**24 * 10**6 // (POOL.asset_price + 1) == 1090788441217
    assert hop.amount_out > 10**24 * POOL.share_price // 10**18


@given(
    assets=magnitudes(10**6, 10**26), shares=magnitudes(10**6, 10**26), amount=magnitudes(1, 10**30),
    decimals=st.tuples(st.sampled_from((6, 8, 18)), st.sampled_from((6, 18))),
)  # fmt: skip
@settings(max_examples=400, deadline=None, derandomize=True)
def test_a_quote_is_never_more_than_the_vault_gives_and_hardly_less(assets, shares, amount, decimals):
    """The vault computed in full, from its supply and assets."""
    one_in, one_out = (10**each for each in decimals)
    price, inverse = one_in * shares // assets, one_out * assets // shares
    assume(price and inverse)
    given_, taken = best_rate(price, one_in, inverse, one_out)
    exact, quoted = amount * shares // assets, amount * given_ // taken
    assert quoted <= exact
    assert exact - quoted <= exact / max(price, inverse) + 1


def test_a_vault_that_keeps_a_part_is_quoted_by_its_own_answer():
    assert best_rate(999, 1000, 999, 1000) == (999, 1000)


def test_limits_shrink_with_use():
    hop, after = POOL.swap_exact_in(USDC, SUSDC, 10**14)
    assert (after.max_deposit, after.max_redeem) == (9 * 10**14, 10**27)
    assert hop.gas == POOL.gas_deposit
    with pytest.raises(QuoteRefused) as refused:
        after.swap_exact_in(USDC, SUSDC, 9 * 10**14 + 1)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH
    _, after = POOL.swap_exact_in(SUSDC, USDC, 10**27)
    assert after.edges() == ((USDC, SUSDC),)


def test_a_closed_direction_has_no_edge():
    closed = replace(POOL, max_deposit=0)
    assert closed.edges() == ((SUSDC, USDC),)
    with pytest.raises(QuoteRefused):
        closed.swap_exact_out(USDC, SUSDC, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("asset_price", 0), ("share_price", 0), ("share_price", 1_090_789), ("max_deposit", -1),
        ("max_redeem", 2**256), ("share", USDC),
    ],
)  # fmt: skip
def test_impossible_states_name_their_field(field, value):
    with pytest.raises(InvalidMarket) as invalid:
        replace(POOL, **{field: value})
    assert invalid.value.field == ("token1" if field == "share" else field)

"""Across: a relayer pays out at once and is repaid later, for its capital, its gas and the liquidity providers."""

from __future__ import annotations

from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.bridges.terms import lane_id
from routing_engine.model import Token

DEPOSIT_GAS = 95_000


def across_lane(
    token_in: Token,
    token_out: Token,
    *,
    capital_fee_e18: int,
    lp_fee_e18: int,
    relayer_gas_fee: int,
    min_deposit: int,
    max_deposit: int,
    fill_time_s: int,
) -> BridgeLane:
    """Return a lane from the answers of ``/suggested-fees`` and ``/limits``.

    The depositor names the output in ``SpokePool.depositV3``, and a relayer pays exactly that. The output here is what
    remains after all three fees, which is what relayers accept.

    Parameters
    ----------
    token_in, token_out : Token
        ``inputToken`` and ``outputToken``.
    capital_fee_e18, lp_fee_e18 : int
        ``relayerCapitalFee.pct`` and ``lpFee.pct``, in 1e-18.
    relayer_gas_fee : int
        ``relayerGasFee.total``, in the token sent.
    min_deposit, max_deposit : int
        ``minDeposit``, and ``maxDepositInstant`` for the fill time stated, or ``maxDeposit`` for a longer one.
    fill_time_s : int
        ``estimatedFillTimeSec``.
    """
    return BridgeLane(
        id=lane_id("across", token_in, token_out),
        protocol="across",
        token_in=token_in,
        token_out=token_out,
        fees=(
            LaneFee(name="relayer_fee", rate_e18=capital_fee_e18),
            LaneFee(name="lp_fee", rate_e18=lp_fee_e18),
            LaneFee(name="destination_gas_fee", flat=relayer_gas_fee),
        ),
        min_amount_in=min_deposit,
        max_amount_in=max_deposit if max_deposit >= min_deposit else 0,
        fill_time_s=fill_time_s,
        gas=DEPOSIT_GAS,
    )

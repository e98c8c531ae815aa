"""deBridge's DLN: a taker fills an order on the other chain for a margin; the protocol takes a flat fee and a share."""

from __future__ import annotations

from decimal import Decimal

from routing_engine.market import UNLIMITED
from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.bridges.terms import lane_id, rate_of_bps
from routing_engine.model import Token

ORDER_GAS = 250_000


def debridge_lane(
    token_in: Token,
    token_out: Token,
    *,
    fixed_native_fee: int,
    operating_expenses: int,
    fill_time_s: int,
    protocol_fee_bps: int | str | Decimal = 4,
    taker_margin_bps: int | str | Decimal = 4,
) -> BridgeLane:
    """Return a lane for one asset; the order names the output, and a taker pays exactly that.

    Parameters
    ----------
    token_in, token_out : Token
        The give token and the take token of ``DlnSource.createOrder``.
    fixed_native_fee : int
        ``globalFixedNativeFee``: paid on top, in the coin of the chain of `token_in`.
    operating_expenses : int
        ``approximateOperatingExpense``: what takers ask for their gas, in the token sent.
    fill_time_s : int
        ``order.approximateFulfillmentDelay``.
    protocol_fee_bps, taker_margin_bps : int, str or Decimal
        ``globalTransferFeeBps``, and the margin of takers.
    """
    return BridgeLane(
        id=lane_id("debridge", token_in, token_out),
        protocol="debridge",
        token_in=token_in,
        token_out=token_out,
        fees=(
            LaneFee(name="protocol_fee", rate_e18=rate_of_bps(protocol_fee_bps, "protocol_fee_bps")),
            LaneFee(name="relayer_fee", rate_e18=rate_of_bps(taker_margin_bps, "taker_margin_bps")),
            LaneFee(name="destination_gas_fee", flat=operating_expenses),
        ),
        min_amount_in=1,
        max_amount_in=UNLIMITED,
        fill_time_s=fill_time_s,
        gas=ORDER_GAS,
        native_fee=fixed_native_fee,
    )

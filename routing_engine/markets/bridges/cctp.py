"""Circle's CCTP v2: burn on one chain, mint on the other."""

from __future__ import annotations

from decimal import Decimal
from enum import IntEnum

from routing_engine.market import UNLIMITED
from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.bridges.terms import lane_id, rate_of_bps
from routing_engine.model import Token


class Finality(IntEnum):
    """``minFinalityThreshold`` of ``depositForBurn``."""

    FAST = 1_000
    """Attested once confirmed, out of an allowance, for a fee."""
    STANDARD = 2_000
    """Attested once final."""


def cctp_lane(
    token_in: Token,
    token_out: Token,
    *,
    finality: Finality,
    minimum_fee_bps: int | str | Decimal,
    fill_time_s: int,
    allowance: int | None = None,
    forward_fee: int | None = None,
    gas: int = 120_000,
) -> BridgeLane:
    """Return a lane from the answers of ``/v2/burn/USDC/fees`` and ``/v2/fastBurn/USDC/allowance``.

    The fees, rounded up, are what goes into ``maxFee``; the attestation never charges more.

    Parameters
    ----------
    token_in, token_out : Token
        USDC on both chains.
    finality : Finality
        The answer's ``finalityThreshold``.
    minimum_fee_bps : int, str or Decimal
        The answer's ``minimumFee``; may have decimals, like 1.3.
    fill_time_s : int
        Until the attestation, and the minting transaction's block.
    allowance : int, optional
        What fast transfers may still take, smallest units; none limits a standard one.
    forward_fee : int, optional
        What Circle takes for minting on the other chain, smallest units. Without it another party has to mint, with a
        transaction there.
    """
    protocol = f"cctp_{finality.name.lower()}" + ("" if forward_fee is None else "_forwarded")
    rate = rate_of_bps(minimum_fee_bps, "minimum_fee_bps")
    forwarding = () if forward_fee is None else (LaneFee(name="destination_gas_fee", flat=forward_fee),)
    return BridgeLane(
        id=lane_id(protocol, token_in, token_out),
        protocol=protocol,
        token_in=token_in,
        token_out=token_out,
        fees=(LaneFee(name="protocol_fee", rate_e18=rate), *forwarding),
        min_amount_in=1,
        max_amount_in=UNLIMITED if allowance is None else allowance,
        fill_time_s=fill_time_s,
        gas=gas,
    )

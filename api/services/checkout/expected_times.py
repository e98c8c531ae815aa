"""How long a payment takes as a rule: each stage of it, and the whole, which is what its stages add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.services.checkout.fill_times import LOOK_S, Lane, expect_confirmation_s, expect_fill_s
from api.services.orders.views import PublicOrder
from api.services.orders.worth import estimate_dollars
from api.services.resources import Resources
from routing_engine.reference.chains import block_time_s

SPOKEN_S = (86_400, 3_600, 60)
"""People are told whole days, hours, minutes: what is longer than one of these is rounded up to it."""

Steps = Sequence[Mapping[str, Any]]


def expect_payment_s(resources: Resources, order: PublicOrder, from_chain_id: int, steps: Steps) -> int:
    """Return the seconds from a payment's sending until the merchant has it.

    Parameters
    ----------
    steps : sequence of mapping
        Those of its quote, in the interface's shape; none for a transfer.
    """
    crossing = find_crossing(steps)
    bridged = expect_bridge_s(resources, order, from_chain_id, crossing["protocol"], steps) if crossing else 0
    return expect_sent_s(from_chain_id) + (bridged or 0) + (expect_arrival_s(resources, order) or 0)


def find_crossing(steps: Steps) -> Mapping[str, Any] | None:
    """Return the step that leads to another chain."""
    return next((each for each in steps if _crosses(each)), None)


def expect_sent_s(chain_id: int) -> int:
    """Return how long a transaction waits for its block and this service for the sight of it."""
    return _round_as_said(block_time_s(chain_id) + LOOK_S)


def expect_bridge_s(
    resources: Resources, order: PublicOrder, from_chain_id: int, bridge: str, steps: Steps
) -> int | None:
    """Return how long the money is between the chains; None where nobody can say."""
    if order.settlement_chain_id is None:
        return None
    crossing = [int(each["estimatedTime"]) for each in steps if _crosses(each)]
    lane = Lane(bridge=bridge, from_chain_id=from_chain_id, to_chain_id=order.settlement_chain_id)
    expected = expect_fill_s(resources, order.env_mode, lane, sum(crossing) if crossing else None)
    return None if expected is None else _round_as_said(expected)


def expect_arrival_s(resources: Resources, order: PublicOrder) -> int | None:
    """Return how long the merchant's chain takes until it will not lose the payment any more."""
    chain_id = order.settlement_chain_id
    if chain_id is None or order.settlement_token_address is None:
        return None
    dollars = estimate_dollars(chain_id, order.settlement_token_address, order.settlement_amount or 0)
    return _round_as_said(expect_confirmation_s(resources, order.env_mode, chain_id, dollars))


def _crosses(step: Mapping[str, Any]) -> bool:
    return int(step["fromChainId"]) != int(step["toChainId"])


def _round_as_said(seconds: int) -> int:
    """Round up as a customer is told it, so that the parts that are read do not exceed the whole."""
    unit = next((each for each in SPOKEN_S if seconds >= each), 1)
    return -(-seconds // unit) * unit

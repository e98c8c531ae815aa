"""Seconds from a deposit until the funds can be used on the other chain, per bridge.

The figures are the chains' own, in ``routing_engine/data/chains.json``. Across: mean fill times measured per route and
token. CCTP: the attestation times that its documentation states
(https://developers.circle.com/cctp/concepts/finality-and-block-confirmations), plus a block on the destination.
Stargate and LayerZero: the confirmations that messages wait for, in the time of their chain. Hop and the canonical
bridges: round figures of the order that documentation gives
(https://docs.hop.exchange/basics/faq/how-long-does-a-hop-transfer-take); a withdrawal from an optimistic rollup waits
for seven days of challenges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.reference.chains import CHAINS, block_time_s

_ACROSS_LIKE = {"ETH": "WETH", "USDT": "USDC", "WBTC": "DAI"}
"""Tokens without a measurement fill like the measured one whose relayers they share."""


def across_fill_time(symbol: str, origin: int, destination: int) -> int:
    """Return how long a relayer takes: as measured, or else the longer of the chains' usual times."""
    ends = _facts("across", origin), _facts("across", destination)
    measured = ends[0].get("fill_times_s", {}).get(_ACROSS_LIKE.get(symbol, symbol), {})
    found = measured.get(str(destination))
    return int(found if found is not None else max(each.get("usual_fill_time_s", 0) for each in ends))


def cctp_fast_fill_time(origin: int, destination: int) -> int | None:
    """Return the time of a fast transfer, or None from chains that offer only the standard one."""
    attested = _facts("cctp", origin).get("fast_s")
    return None if attested is None else int(attested) + block_time_s(destination)


def cctp_standard_fill_time(origin: int, destination: int) -> int:
    """Return the time of a transfer that waits for finality."""
    return int(_facts("cctp", origin)["standard_s"]) + block_time_s(destination)


def layer_zero_fill_time(origin: int, destination: int) -> int:
    """Return how long a LayerZero message takes."""
    return int(_facts("layerzero", origin)["message_s"]) + block_time_s(destination)


def hop_fill_time(origin: int, destination: int) -> int:
    """Return how long a bonder takes, or the canonical message where there is none (from Ethereum)."""
    return int(_facts("hop", origin)["fill_time_s"]) + block_time_s(destination)


def canonical_fill_time(origin: int, destination: int) -> int:
    """Return a deposit's time to a rollup, or a withdrawal's with its challenge period."""
    below = CHAINS[destination].bridges.get("canonical", {})
    if below.get("parent") == origin:
        return int(below["deposit_s"])
    return int(_facts("canonical", origin)["withdrawal_s"])


def _facts(bridge: str, chain_id: int) -> Mapping[str, Any]:
    return CHAINS[chain_id].bridges[bridge]

"""Bridges by protocol: each turns what its contracts or its service say into lanes.

Most charge flat and proportional fees, and are a `BridgeLane`; Stargate, whose fee depends on the amount, is a kind of
its own. Hop is three markets in a row: the exchange into its bridged token, the lane, and the exchange out of it.

May import `amm`, `curves`, `errors`, `fixed_point`, `market`, `markets.common`, `model` and `reference`. Begin with
`lane.py`.
"""

from routing_engine.markets.bridges.across import across_lane
from routing_engine.markets.bridges.canonical import canonical_lane
from routing_engine.markets.bridges.cctp import Finality, cctp_lane
from routing_engine.markets.bridges.debridge import debridge_lane
from routing_engine.markets.bridges.hop import hop_lanes
from routing_engine.markets.bridges.stargate import StargateLane

__all__ = [
    "Finality",
    "StargateLane",
    "across_lane",
    "canonical_lane",
    "cctp_lane",
    "debridge_lane",
    "hop_lanes",
]

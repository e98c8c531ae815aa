"""Bridges by protocol: each turns what its contracts or its service say into lanes.

Most charge flat and proportional fees, and are a `BridgeLane`; Stargate, whose fee depends on the amount, is a kind of
its own. Hop is three markets in a row: the exchange into its bridged token, the lane, and the exchange out of it.
"""

from routing_engine.markets.lanes.across import across_lane
from routing_engine.markets.lanes.canonical import canonical_lane
from routing_engine.markets.lanes.cctp import Finality, cctp_lane
from routing_engine.markets.lanes.debridge import debridge_lane
from routing_engine.markets.lanes.hop import hop_lanes
from routing_engine.markets.lanes.stargate import StargateLane

__all__ = [
    "Finality",
    "StargateLane",
    "across_lane",
    "canonical_lane",
    "cctp_lane",
    "debridge_lane",
    "hop_lanes",
]

"""Balancer's SOR: every pool as a weighted pool 50/50; up to four paths."""

from __future__ import annotations

from benchmarks.peers.node import NodeSolver


def make_solver() -> NodeSolver:
    """Return the router on the market's pools."""
    return NodeSolver("balancer_sor", "balancer-sor", "@balancer-labs/sor")

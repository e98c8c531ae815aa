"""Uniswap's smart-order-router: its v2 pool selection, quoter and best-swap search, with its default configuration."""

from __future__ import annotations

from benchmarks.peers.node import NodeSolver


def make_solver() -> NodeSolver:
    """Return the router on providers that answer from the market."""
    return NodeSolver("uniswap_sor", "smart-order-router", "@uniswap/smart-order-router")

"""What searches read of every edge says no less than its record, and what they read of roundings no less than all."""

from __future__ import annotations

import random

import numpy as np

from routing_engine import Router, Snapshot
from routing_engine.graph.csr import round_up
from routing_engine.graph.graph import Graph
from tests.support.mixed import GAS_PRICES, mixed_markets

NEAR = 2.5e-7
"""Part by which a rate in a link may be above that of the record."""


def compile_mixed(seed: int) -> Graph:
    """Return a graph with markets of all kinds."""
    return Router(Snapshot(mixed_markets(random.Random(seed)), gas_prices=GAS_PRICES)).graph


def test_links_name_the_same_tokens_and_rates_just_above_those_of_the_edges() -> None:
    for seed in range(10):
        graph = compile_mixed(seed)
        for way in (graph.forward, graph.reverse):
            rates = way.edges["max_average_price"]
            assert np.array_equal(way.links["other"], way.edges["other"])
            assert (way.links["rate"] > rates).all()
            assert (way.links["rate"] <= rates * (1.0 + NEAR)).all()


def test_rates_of_any_size_are_rounded_up() -> None:
    rates = np.array([0.0, 1e-60, 1e-30, 1.0, 1.0 + 2.0**-24, 1e30, 1e60, np.inf])
    assert (round_up(rates[:-1]) > rates[:-1]).all()
    assert round_up(rates)[-1] == np.inf


def test_tokens_are_marked_whose_markets_round_up() -> None:
    marked = 0
    for seed in range(10):
        graph = compile_mixed(seed)
        most, takes, gives, _ = graph.roundings
        rounded = np.flatnonzero(most > 0.0)
        assert set(np.flatnonzero(takes).tolist()) == set(graph.source[rounded].tolist())
        assert set(np.flatnonzero(gives).tolist()) == set(graph.target[rounded].tolist())
        marked += int(takes.sum())
    assert marked > 0

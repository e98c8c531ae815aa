"""Adds the chains before anything is imported that reads them, as an operator's process does."""

from __future__ import annotations

from pathlib import Path

from routing_engine.reference.chains import add_chains

FILE = Path(__file__).with_name("bnb_and_avalanche.json")

add_chains(FILE)

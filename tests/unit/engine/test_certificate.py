"""Bounds in whole units, with room for the errors of floats."""

from __future__ import annotations

import pytest

from routing_engine.certificate import Certificate


def of_output(net: float, bound: float) -> float | None:
    return Certificate.of_output(net, bound, 4, gas_aware=True).gap_bps


def of_input(gross: float, bound: float) -> float | None:
    return Certificate.of_input(gross, bound, 4, gas_aware=True).gap_bps


def test_part_of_a_unit_is_nothing_to_gain() -> None:
    assert of_output(1_000, 1_000.9) == 0
    assert of_input(1_000, 999.1) == 0


def test_a_unit_that_a_float_may_have_missed_still_counts() -> None:
    assert of_output(999, 1_000 - 1e-7) == pytest.approx(10, rel=1e-6)
    assert of_input(1_001, 1_000 + 1e-7) == pytest.approx(10, rel=1e-6)


def test_large_amounts_are_not_rounded() -> None:
    assert of_output(1e24, 1e24) == 0
    assert of_output(1e24, 1e24 * (1 + 1e-8)) == pytest.approx(1e-4, rel=1e-3)

"""Formulas that are compiled beforehand are those that pools of every kind call, with arguments of the same types."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numba
import pytest

from routing_engine import Router, Snapshot
from routing_engine.amm.cryptoswap.exchange import Method
from routing_engine.curves import fitting
from routing_engine.curves.formulas import Formula
from routing_engine.warm_up_kernels import list_formulas, list_kernels
from tests.support.mixed import GAS_PRICES, mixed_markets
from tests.unit.engine.test_curve_shapes import GROWING_FEE, crypto_pool

Called = tuple[str, tuple[Any, ...]]


def name(kernel: Any, arguments: tuple[Any, ...]) -> Called:
    function = kernel.py_func
    types = tuple(numba.typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
    return f"{function.__module__}.{function.__name__}", types


def test_a_market_of_any_kind_calls_nothing_but_what_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    called, compute, fit = set[Called](), Formula.__call__, fitting._fit_pieces

    def record(self: Formula, *arguments: Any) -> Any:
        result = compute(self, *arguments)
        called.add(name(self._function, arguments))
        return result

    def record_fit(*arguments: Any) -> Any:
        called.add(name(fit.kernel, arguments))
        return fit(*arguments)

    monkeypatch.setattr(Formula, "__call__", record)
    monkeypatch.setattr(fitting, "_fit_pieces", record_fit)
    pools = [GROWING_FEE, replace(GROWING_FEE, multiplier_e10=0), crypto_pool(2, Method.CLOSED_FORM)]
    for seed in range(6):
        mixed = mixed_markets(random.Random(f"formulas {seed}"))
        markets = {each.id: each for each in [*mixed, *pools]}
        for market in Router(Snapshot(markets.values(), gas_prices=GAS_PRICES)).graph.markets:
            for ends in market.edges():
                curve = market.curve(*ends)
                some = curve(curve.x_min + (curve.x_max - curve.x_min) / 1e6)
                curve.inverse(some * 0.9)
                market.spot_price(*ends)
    listed = {name(*each) for each in list_formulas()}
    assert called <= listed
    assert len({kernel for kernel, _ in called}) > 5


def test_formulas_are_compiled_on_demand_only() -> None:
    kernels, others = ({name(*each)[0] for each in list_kernels(with_formulas=flag)} for flag in (True, False))
    assert kernels - others == {name(*each)[0] for each in list_formulas()}

"""What is compiled: each kernel for one signature, so that nothing is compiled twice or on a request's path."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest
from numba.core.dispatcher import Dispatcher

import routing_engine.kernels
from routing_engine.warm import warm_up

MODULES = [f"routing_engine.kernels.{found.name}" for found in pkgutil.iter_modules(routing_engine.kernels.__path__)]

ON_COLUMNS_AND_TOKENS = {"last_row_at_most", "price_after", "_most_valued", "sort_by"}
"""Small ones that are called with literals or with both widths of integers."""


@pytest.mark.parametrize("name", MODULES)
def test_no_kernel_is_compiled_for_two_signatures(name):
    # A counter that starts at a literal 0 or an index from an array of int32 makes numba compile the callee twice.
    warm_up()
    kernels = {key: each for key, each in vars(import_module(name)).items() if isinstance(each, Dispatcher)}
    several = {key for key, each in kernels.items() if len(each.signatures) > 1}
    assert several <= ON_COLUMNS_AND_TOKENS

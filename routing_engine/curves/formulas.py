"""The formulas of curves for callers that are not compiled themselves.

The compiler is loaded when a formula is first computed. So markets can be read, stored and compared without it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

Argument = float | npt.NDArray[np.float64]


class Formula:
    """A compiled function of `routing_engine.curves.kernels`, looked up at its first call.

    Parameters
    ----------
    module, name : str
        Where it is in that package.
    """

    __slots__ = ("_function", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._function: Callable[..., Any] | None = None

    def __call__(self, *arguments: Argument) -> Any:
        """Compute it."""
        if self._function is None:
            self._function = getattr(import_module(f"routing_engine.curves.kernels.{self._module}"), self._name)
        return self._function(*arguments)


shape_out, shape_in = Formula("shapes", "shape_out"), Formula("shapes", "shape_in")

"""numba's types of plain arrays, found without numpy's masked arrays, which numba imports to tell them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.core.typing.typeof import typeof_impl
from numba.np.numpy_support import from_dtype, map_layout

_find_type: Any = typeof_impl.dispatch(np.ndarray)


def find_type(value: Any, context: Any) -> Any:
    """Return the type of an array: of a plain one of numbers here, of any other as numba does."""
    if type(value) is not np.ndarray or value.dtype.hasobject:
        return _find_type(value, context)
    is_readonly = not value.flags.writeable
    return types.Array(from_dtype(value.dtype), value.ndim, map_layout(value), readonly=is_readonly)


def type_arrays_quickly() -> None:
    """From now on, plain arrays are typed as above."""
    typeof_impl.register(np.ndarray)(find_type)

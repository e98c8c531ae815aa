"""Rows of records moved as bytes: numpy moves records field by field, which takes many times as long."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.void]
Places = npt.NDArray[np.int64] | npt.NDArray[np.int32]


def take_rows(records: Records, places: Places) -> Records:
    """Return a copy of some rows."""
    return _as_bytes(records)[places].view(records.dtype)


def put_rows(records: Records, places: Places, news: Records) -> None:
    """Write rows over those at `places`."""
    _as_bytes(records)[places] = _as_bytes(news)


def copy_over(records: Records, news: Records) -> None:
    """Write over all rows."""
    np.copyto(records.view(np.uint8), news.view(np.uint8))


def _as_bytes(records: Records) -> Records:
    """Return a view without fields."""
    return records.view(f"V{records.dtype.itemsize}")

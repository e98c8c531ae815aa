"""Columns as a pandas frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from routing_engine.frames.column import Column, Kind

if TYPE_CHECKING:
    import pandas as pd

DTYPES: dict[Kind, npt.DTypeLike] = {
    Kind.TEXT: np.object_,
    Kind.UNITS: np.object_,
    Kind.COUNT: np.int64,
    Kind.NUMBER: np.float64,
    Kind.FLAG: np.bool_,
}


def build_frame(pandas: Any, columns: Sequence[Column]) -> pd.DataFrame:
    """Return a frame; text has pandas' own type of text."""
    frame: pd.DataFrame = pandas.DataFrame(
        {
            column.name: pandas.Series(
                np.array(column.values, DTYPES[column.kind]), dtype="str" if column.kind is Kind.TEXT else None
            )
            for column in columns
        }
    )
    frame.attrs["units"] = {column.name: column.unit for column in columns if column.unit}
    return frame

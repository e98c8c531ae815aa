"""What can be read as a table."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from routing_engine.frames.column import Column

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderResult


class Table:
    """Base of what has rows: a route its hops, a result its routes, quotes their requests, a snapshot its directions.

    pandas is asked for by `to_frame`. Polars, DuckDB, pandas and others also read the object itself, by the PyCapsule
    interface of Arrow: ``polars.DataFrame(route)``. Notebooks show it as a table. All three come with the extra
    ``quant``.
    """

    __slots__ = ()

    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """Return the columns, of equal length."""

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each part as a pandas frame.

        Smallest units are exact: columns of Python integers. ``frame.attrs["units"]`` says what the numbers count.

        Raises
        ------
        ImportError
            If pandas is not installed; the message says what to install.
        """
        from routing_engine.frames.to_pandas import build_frame

        return build_frame(_require("pandas"), self.columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to a reader of Arrow.

        Smallest units are decimals of 38 digits, or text where one of a column has more.
        """
        from routing_engine.frames.to_arrow import build_arrow_table

        stream: object = build_arrow_table(_require("pyarrow"), self.columns()).__arrow_c_stream__(requested_schema)
        return stream

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        from routing_engine.frames.to_html import write_html

        return write_html(repr(self), self.columns())

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Show the first rows where rich prints."""
        from routing_engine.frames.to_rich import render

        return render(repr(self), self.columns(), options.max_width)


def _require(package: str) -> Any:
    """Return a package of the extra ``quant``."""
    try:
        found: ModuleType = import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = f"{package} is not installed; run: pip install {package}, or install the extra 'quant'"
        raise ImportError(message, name=package) from None  # whose cause would be a page of the import system
    return found

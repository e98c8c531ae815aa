"""One look for all pictures: readable in black and white, by colour-blind people, and beside text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#A89200", "#999999")
"""Of Okabe and Ito, their yellow darker: told apart by people who don't see red or green, and seen on white."""

HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
INK, FAINT = "#222222", "#BBBBBB"

RC: Any = {
    "axes.edgecolor": INK, "axes.labelcolor": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlelocation": "left", "axes.titlesize": 11, "axes.grid": True, "axes.axisbelow": True,
    "figure.dpi": 110, "figure.figsize": (8.0, 4.5), "figure.constrained_layout.use": True, "font.size": 9.5,
    "grid.color": "#E5E5E5", "hatch.color": "white", "legend.frameon": False, "svg.fonttype": "path",
    "svg.hashsalt": "routing-engine", "text.color": INK, "xtick.color": INK, "ytick.color": INK,
}  # fmt: skip


@contextmanager
def use_style(ax: Axes | None) -> Iterator[Axes]:
    """Give the axes to draw on, new ones where there are none, while the style holds."""
    with plt.rc_context(RC):
        yield ax or plt.subplots()[1]


def show_plainly(ax: Axes) -> None:
    """Write 0.1, 10 and 10,000: neither powers of ten, nor what is left to a number that stands elsewhere."""
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
        axis.set_minor_formatter(NullFormatter())


def number_names(names: Iterable[str]) -> dict[str, int]:
    """Return a number for each name, by which colours, hatches and markers are chosen; the order decides."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}

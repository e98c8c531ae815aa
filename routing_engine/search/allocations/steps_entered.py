"""How many steps of a pool's loop a flow enters beside the first: each of them takes gas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.curves.curve import X0


def list_starts(row: np.void, pieces: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """List where the pieces of an edge begin."""
    first, size = row["piece"].item(), row["n_pieces"].item()
    starts: npt.NDArray[np.float64] = pieces[first : first + size, X0]
    return starts


def count_entered(
    rows: npt.NDArray[np.void], pieces: npt.NDArray[np.float64], flow: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """Count for each edge the pieces that its flow enters beside the first, where they take gas."""
    entered = np.zeros(rows.size, np.int64)
    for edge in np.flatnonzero((rows["gas_per_piece"] > 0.0) & (rows["n_pieces"] > 1)).tolist():
        starts = list_starts(rows[edge], pieces)
        entered[edge] = max(0, int(starts.searchsorted(flow[edge], side="right")) - 1)
    return entered


def count_gas(
    rows: npt.NDArray[np.void], pieces: npt.NDArray[np.float64], flow: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Count the gas of each edge in use, that of the steps that its flow enters included."""
    gas: npt.NDArray[np.float64] = rows["gas"] + rows["gas_per_piece"] * count_entered(rows, pieces, flow)
    return gas

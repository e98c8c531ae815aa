"""Markets as rows of edges: what the graph's compiler lays out, and what an update writes over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from routing_engine.curves.curve import Curve
from routing_engine.curves.fitting import FittedPieces, fit_curve
from routing_engine.curves.kernels.mobius_pieces import ABOVE
from routing_engine.errors import InvalidMarket
from routing_engine.graph.structured_rows import Records, put_rows
from routing_engine.graph.wide_pieces import measure_wide_pieces
from routing_engine.kernels.arrays import EDGE
from routing_engine.market import Market
from routing_engine.markets.constant_product import ConstantProductPool, curve_columns
from routing_engine.model import Token
from routing_engine.reference.chains import block_time_s

Ends = tuple[tuple[Token, Token], ...]

BOTH_WAYS = 2


@dataclass(frozen=True, slots=True, eq=False)
class EdgeRows:
    """The edges of some markets, one market's after the other's.

    Parameters
    ----------
    first : int64 array, shape (markets + 1,)
        Rows of market i are first[i] to first[i + 1].
    listed : mapping of int to tuple
        Directions of market i, as `Market.edges` gives them; a market that is missing here is a pair that is open both
        ways, from `token0` to `token1` and back.
    records : EDGE array
        A row for each edge, with what its curve says; ends, market, chain, twin and place in the table of pieces are 0.
    pieces : mapping of int to float64 array
        What rows of more than one piece have in that table.
    charging : tuple of int
        Markets whose gas depends on the gas price, as they charge a fee in coin.
    """

    first: npt.NDArray[np.int64]
    listed: Mapping[int, Ends]
    records: npt.NDArray[np.void]
    pieces: Mapping[int, npt.NDArray[np.float64]]
    charging: tuple[int, ...]


def describe_edges(markets: Sequence[Market], gas_prices: Mapping[int, int]) -> EdgeRows:
    """Describe all edges of the given markets.

    Constant-product pools are by far the most, so they are described together; each other market by its own curves.
    """
    numbers, columns = _describe_constant_product(markets)
    others = set(range(len(markets))).difference(numbers.tolist()) if numbers.size < len(markets) else ()
    listed = {number: markets[number].edges() for number in sorted(others)}
    counts = np.full(len(markets), BOTH_WAYS, np.int64)
    for number, ends in listed.items():
        counts[number] = len(ends)
    first = np.concatenate(([0], np.cumsum(counts)))
    records = np.zeros(int(first[-1]), EDGE)
    pools = _make_pool_records(columns)
    for direction in range(BOTH_WAYS if numbers.size else 0):
        put_rows(records, first[numbers] + direction, pools[direction])
    pieces: dict[int, npt.NDArray[np.float64]] = {}
    charging: list[int] = []
    for number, ends in listed.items():
        for row, (token_in, token_out) in enumerate(ends, int(first[number])):
            curve = markets[number].curve(token_in, token_out)
            if not isinstance(curve, Curve):
                raise InvalidMarket("markets", f"{markets[number].id}: `curve` must give a Curve, not {curve!r}")
            fitted = fit_curve(curve)
            measure_wide_pieces(curve, fitted.pieces)
            records[row] = _make_record(curve, fitted, token_in, token_out, gas_prices)
            if len(fitted.pieces) > 1:
                pieces[row] = fitted.pieces
            if curve.native_fee and number not in charging[-1:]:
                charging.append(number)
    return EdgeRows(first, listed, records, pieces, tuple(charging))


def _make_pool_records(columns: Sequence[Mapping[str, npt.NDArray[np.float64]]]) -> list[Records]:
    """Return the records of constant-product pools, for each direction by its columns."""
    made = []
    for values in columns:
        records = np.zeros(values["a"].size, EDGE)
        records["n_pieces"] = records["concave"] = 1
        for name, column in values.items():
            records[name] = column
        records["max_average_price"] = values["a"] / values["b"]
        made.append(records)
    return made


def _describe_constant_product(
    markets: Sequence[Market],
) -> tuple[npt.NDArray[np.int64], tuple[dict[str, npt.NDArray[np.float64]], dict[str, npt.NDArray[np.float64]]]]:
    """Return the numbers of constant-product pools that are open both ways, and their columns for each direction."""
    try:
        found = [number for number, market in enumerate(markets) if market.is_constant_product]
    except AttributeError:
        wrong = next(market for market in markets if not hasattr(market, "is_constant_product"))
        raise InvalidMarket("markets", f"{wrong.id} is no whole market; build its kind on BaseMarket") from None
    pools = cast(list[ConstantProductPool], [markets[number] for number in found])
    count = len(pools)
    reserve0 = np.fromiter([pool.reserve0 for pool in pools], np.float64, count)
    reserve1 = np.fromiter([pool.reserve1 for pool in pools], np.float64, count)
    fee_pips = np.fromiter([pool.fee_pips for pool in pools], np.float64, count)
    gas = np.fromiter([float(pool.gas) for pool in pools], np.float64, count)
    there, back = curve_columns(reserve0, reserve1, fee_pips), curve_columns(reserve1, reserve0, fee_pips)
    # Not quite full, not nearly empty: what is at the edge is left to exact integers.
    is_open = np.ones(len(pools), np.bool_)
    for way in (there, back):
        is_open &= (way["x_min"] > 0.0) & (way["x_min"] < 0.5 * way["x_max"])
    columns, numbers = [way | {"gas": gas} for way in (there, back)], np.array(found, np.int64)
    if not is_open.all():
        columns = [{name: values[is_open] for name, values in way.items()} for way in columns]
    return numbers[is_open], (columns[0], columns[1])


def _make_record(
    curve: Curve, fitted: FittedPieces, token_in: Token, token_out: Token, gas_prices: Mapping[int, int]
) -> tuple[float, ...]:
    gas_price = gas_prices.get(token_in.chain_id, 0)
    gas = curve.gas + (curve.native_fee / gas_price if gas_price else 0.0)
    crosses = token_in.chain_id != token_out.chain_id
    time = curve.fill_time_s + block_time_s(token_in.chain_id) if crosses else 0.0
    limits = (curve.x_min, curve.x_max, gas, curve.gas_per_piece)
    head = (0, 0, 0, 0, fitted.pieces[-1, ABOVE], fitted.is_concave, 0, len(fitted.pieces))
    return (*head, *fitted.pieces[0, :ABOVE].tolist(), fitted.max_average_price, *limits, time)


def number_tokens(
    markets: Sequence[Market], rows: EdgeRows
) -> tuple[dict[Token, int], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return a number for each token, in the order of rows, and each row's numbers of token_in and token_out."""
    index: dict[Token, int] = {}
    source: list[int] = []
    target: list[int] = []
    for number, market in enumerate(markets):
        for token_in, token_out in _list_ends(market, rows.listed.get(number)):
            source.append(index.setdefault(token_in, len(index)))
            target.append(index.setdefault(token_out, len(index)))
    return index, np.array(source, np.int32), np.array(target, np.int32)


def _list_ends(market: Market, listed: Ends | None) -> Ends:
    if listed is not None:
        return listed
    first, second = market.tokens
    return ((first, second), (second, first))

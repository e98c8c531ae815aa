"""Recorded markets and what was asked of them: Fynd's scenarios, real requests, the orders of an auction."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.measure import PATIENT_MS
from routing_engine import RouteRequest, Snapshot, Token, formats
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.token_fields import Transfers

ETHEREUM = 1
RECORDINGS = ("eth_fynd_24693611", "eth_fynd_24699608", "eth_fynd_24721174")
GOLDEN_RECORDING, GOLDEN_BLOCK = "eth_fynd_24721174", 24721181
GOLDEN_OUTPUTS = "fynd_golden_outputs_block_24721181.json"
BEST_KNOWN = "best_known_24721181.json"
TRADES = "eth_dune_trades_10k_feb2026.csv.gz"
AUCTION = "eth_cow_auction_7400681"
AUCTION_GAS_PRICE = 15_189_175_884
"""Wei; from the auction's own description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A trade whose answer by Fynd 0.19.0 is known.

    Parameters
    ----------
    name : str
        As recorded.
    request : RouteRequest
        The same question to us.
    fynd_net, fynd_ms : int
        Its output after gas, and the time it took on its authors' machine.
    """

    name: str
    request: RouteRequest
    fynd_net: int
    fynd_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BestKnown:
    """What a slow solver without a limit of hops found for a scenario.

    Parameters
    ----------
    gross, net : int
        Its output before and after gas, smallest units.
    gas : int
        Its gas units.
    """

    gross: int
    net: int
    gas: int

    @property
    def gas_value(self) -> float:
        """What a unit of gas was valued at, in the token bought."""
        return (self.gross - self.net) / self.gas


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A limit order: the request, and the worst amount that its owner accepts on the other side."""

    request: RouteRequest
    limit: int


def market(folder: Path, name: str, to_block: int | None = None) -> Snapshot:
    """Load a recording; with `to_block`, replay its deltas up to and including that block.

    Tokens whose transfers are not exact are let in, because those whose answers we compare with had them too.
    """
    every = tuple(Transfers)
    snapshot = Snapshot.load(folder / "markets" / f"{name}.json.gz", every)
    if to_block is not None:
        for step in formats.load_deltas(folder / "markets" / f"{name}_block_deltas.json.gz", to_block, every):
            snapshot = snapshot.apply(step.markets, removed=step.withdrawn, blocks=step.blocks)
    return snapshot


def golden(folder: Path, snapshot: Snapshot, gas_price: int) -> tuple[list[Scenario], int]:
    """Return the scenarios whose two tokens are in the market, and how many there are in all."""
    recorded = json.loads((folder / "trades" / GOLDEN_OUTPUTS).read_text())["scenarios"]
    known = _by_address(snapshot)
    found = []
    for row in recorded:
        asked, answer = row["scenario"], row["expected"]
        ends = known.get(asked["token_in"].lower()), known.get(asked["token_out"].lower())
        if None in ends or answer["status"] != "success":
            continue
        found.append(
            Scenario(
                name=asked["name"], request=_request(*ends, int(asked["amount"]), gas_price),
                fynd_net=int(answer["amount_out_net_gas"]), fynd_ms=int(answer["solve_time_ms"]),
            )
        )  # fmt: skip
    return found, len(recorded)


def best_known(folder: Path) -> dict[str, BestKnown]:
    """Return the best routes known for the scenarios, by name; of constant-product and concentrated pools only."""
    rows = json.loads((folder / "trades" / BEST_KNOWN).read_text())["rows"]
    return {
        row["name"]: BestKnown(gross=int(row["gross_of_that_route"]), net=int(row["net"]), gas=row["gas_units"])
        for row in rows
    }


def requests(folder: Path, snapshot: Snapshot, gas_price: int) -> tuple[list[RouteRequest], int]:
    """Return the real sell orders whose two tokens are in the market, and how many there are in all."""
    rows = _unzipped(folder / "trades" / "eth_requests_1k.json.gz")["rows"]
    known = _by_address(snapshot)
    ends = [(known.get(row[0].lower()), known.get(row[1].lower()), int(row[2])) for row in rows]
    return [_request(a, b, amount, gas_price) for a, b, amount in ends if a and b and a != b], len(rows)


def trades(folder: Path, snapshot: Snapshot, gas_price: int) -> tuple[list[RouteRequest], int]:
    """Return real trades of February 2026 whose two tokens are in the market, as sales, and how many there are in all.

    They are recorded in whole tokens, as decimal fractions of some 16 digits.
    """
    with gzip.open(folder / "trades" / TRADES, "rt") as file:
        rows = list(csv.DictReader(file))
    known = _by_address(snapshot)
    known |= {ZERO_ADDRESS: known[NATIVE_ADDRESS]} if NATIVE_ADDRESS in known else {}
    found = []
    for row in rows:
        sold, bought = (known.get(row[f"token_{side}_address"].lower()) for side in ("sold", "bought"))
        if sold is None or bought is None or sold == bought:
            continue
        amount = int(Decimal(row["token_sold_amount"] or "0").scaleb(sold.decimals))
        if amount > 0:
            found.append(_request(sold, bought, amount, gas_price))
    return found, len(rows)


def orders(folder: Path, snapshot: Snapshot, gas_price: int = AUCTION_GAS_PRICE) -> tuple[list[Order], int]:
    """Return the auction's orders whose two tokens are in its market, and how many there are in all."""
    rows = _unzipped(folder / "trades" / f"{AUCTION}_orders.json.gz")["orders"]
    known = _by_address(snapshot)
    found = []
    for row in rows:
        sold, bought = known.get(row["sell_token"].lower()), known.get(row["buy_token"].lower())
        if sold is None or bought is None or sold == bought:
            continue
        fixed, limit = int(row["sell_amount"]), int(row["buy_amount"])
        if row["is_sell_order"]:
            request = _request(sold, bought, fixed, gas_price)
        else:
            request = _request(sold, bought, limit, gas_price, side="exact_out")
        found.append(Order(request=request, limit=limit if row["is_sell_order"] else fixed))
    return found, len(rows)


def _request(token_in: Token, token_out: Token, amount: int, gas_price: int, **options: Any) -> RouteRequest:
    return RouteRequest(
        token_in=token_in, token_out=token_out, amount=amount, gas_prices={ETHEREUM: gas_price},
        time_budget_ms=PATIENT_MS, **options,
    )  # fmt: skip


def _by_address(snapshot: Snapshot) -> dict[str, Token]:
    return {token.address: token for token in snapshot.tokens}


def _unzipped(path: Path) -> Any:
    with gzip.open(path) as file:
        return json.load(file)

"""The recorded auction as a driver of today would put it to a solver engine.

Its record is of 2023, in the form of a solver of that time. What the request of today has beside is neutral here: empty
interactions, no signature, no balances of the settlement contract. Neither does the record tell the version of a
weighted pool's library; the first one is taken, as the market files do.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.recorded import AUCTION, AUCTION_GAS_PRICE

FAR = "2106-01-01T00:00:00Z"
NOTHING = "0x" + "00" * 32
SCALE = 10**18
KINDS = {"cpmm": "constantProduct", "clmm": "concentratedLiquidity", "weighted": "weightedProduct", "stable": "stable"}
AUCTION_ID = "7400681"

Record = Mapping[str, Any]


def read_request(folder: Path, gas_price: int = AUCTION_GAS_PRICE, deadline: str = FAR) -> dict[str, Any]:
    """Return the body of ``POST /solve`` for the auction, all of its orders and pools."""
    market = _unzip(folder / "markets" / f"{AUCTION}.json.gz")
    orders = _unzip(folder / "trades" / f"{AUCTION}_orders.json.gz")["orders"]
    return {
        "id": AUCTION_ID,
        "tokens": {address: _write_token(row) for address, row in market["meta"]["tokens"].items()},
        "orders": [_write_order(row) for row in orders],
        "liquidity": [_write_pool(number, row) for number, row in enumerate(market["pools"])],
        "effectiveGasPrice": str(gas_price),
        "deadline": deadline,
        "surplusCapturingJitOrderOwners": [],
    }


def _write_token(row: Record) -> dict[str, Any]:
    price = row["external_price_eth"]
    return {
        "decimals": row["decimals"], "symbol": row["symbol"], "availableBalance": "0", "trusted": False,
        "referencePrice": None if price is None else str(round(price * SCALE)),
    }  # fmt: skip


def _write_order(row: Record) -> dict[str, Any]:
    uid = row["id"]
    return {
        "uid": uid, "sellToken": row["sell_token"], "buyToken": row["buy_token"],
        "sellAmount": row["sell_amount"], "fullSellAmount": row["sell_amount"],
        "buyAmount": row["buy_amount"], "fullBuyAmount": row["buy_amount"],
        "validTo": int(uid[106:], 16), "owner": f"0x{uid[66:106]}", "kind": "sell" if row["is_sell_order"] else "buy",
        "partiallyFillable": row["allow_partial_fill"], "class": "market" if int(row["fee"]["amount"]) else "limit",
        "preInteractions": [], "postInteractions": [], "sellTokenSource": "erc20", "buyTokenDestination": "erc20",
        "appData": NOTHING, "signingScheme": "eip712", "signature": "0x",
    }  # fmt: skip


def _write_pool(number: int, row: Record) -> dict[str, Any]:
    found = {
        "kind": KINDS[row["type"]], "id": str(number), "address": row["address"], "fee": row["fee"],
        "gasEstimate": str(int(row["swap_cost_native_wei"]) // AUCTION_GAS_PRICE),
    }  # fmt: skip
    tokens = [token["address"] for token in row["tokens"]]
    if row["type"] == "clmm":
        nets = {str(index): net for index, net in row["ticks"]}
        state = {"sqrtPrice": row["sqrt_price_x96"], "liquidity": row["liquidity"], "tick": row["tick"]}
        return {**found, **state, "tokens": tokens, "liquidityNet": nets, "router": f"0x{0:040x}"}
    reserves = {address: {"balance": each} for address, each in zip(tokens, row["reserves"], strict=True)}
    if row["type"] == "cpmm":
        return {**found, "tokens": reserves, "router": f"0x{0:040x}"}
    rates = row.get("scaling_rates", [None] * len(tokens))
    for token, rate in zip(row["tokens"], rates, strict=True):
        reserves[token["address"]]["scalingFactor"] = _write_scale(10 ** (18 - token["decimals"]), rate)
        if row["type"] == "weighted":
            reserves[token["address"]]["weight"] = token["weight"]
    end = {"version": "v0"} if row["type"] == "weighted" else {"amplificationParameter": row["amp"]}
    return {**found, "tokens": reserves, "balancerPoolId": NOTHING, **end}


def _write_scale(unit: int, rate: str | None) -> str:
    """Return a scaling factor: what brings an amount to 18 decimals, times its rate, which is recorded inverted."""
    if rate is None or int(rate) * unit == SCALE:
        return str(unit)
    return f"{Decimal(SCALE * SCALE // int(rate)) / SCALE:f}"


def _unzip(path: Path) -> Any:
    with gzip.open(path) as file:
        return json.load(file)


def loosen(body: Record, percent: int) -> dict[str, Any]:
    """Return the auction with limits that are so much easier to reach."""
    return {**body, "orders": [_loosen_order(order, percent) for order in body["orders"]]}


def _loosen_order(order: Record, percent: int) -> dict[str, Any]:
    if order["kind"] == "sell":
        eased = {"buyAmount": str(int(order["buyAmount"]) * (100 - percent) // 100)}
    else:
        eased = {"sellAmount": str(int(order["sellAmount"]) * (100 + percent) // 100)}
    return {**order, **eased}

"""Auctions to solve: built by hand, or drawn by Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.strategies import magnitudes

FAR = "2106-01-01T00:00:00Z"
UNIT = 10**18
NOTHING = "0x" + "00" * 32
WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
TOKENS = (WETH, *(f"0x{number:040x}" for number in (0xA, 0xB, 0xC)))
DECIMALS = (18, 18, 6, 18)


def write_token(price: int | None, decimals: int = 18) -> dict[str, Any]:
    """Return a token; the price is wei for 10**18 of its smallest units."""
    reference = None if price is None else str(price)
    return {
        "decimals": decimals, "symbol": "T", "referencePrice": reference, "availableBalance": "0", "trusted": False,
    }  # fmt: skip


def write_order(number: int, sell: str, buy: str, amounts: tuple[int, int], **changes: Any) -> dict[str, Any]:
    """Return an order to sell so much for so much; a sell order that is filled or killed, unless changed."""
    sold, bought = map(str, amounts)
    return {
        "uid": f"0x{number:0112x}", "sellToken": sell, "buyToken": buy, "sellAmount": sold, "fullSellAmount": sold,
        "buyAmount": bought, "fullBuyAmount": bought, "validTo": 2**32 - 1, "owner": f"0x{number:040x}", "kind": "sell",
        "partiallyFillable": False, "class": "limit", "preInteractions": [], "postInteractions": [],
        "sellTokenSource": "erc20", "buyTokenDestination": "erc20", "appData": NOTHING, "signingScheme": "eip712",
        "signature": "0x", **changes,
    }  # fmt: skip


def write_pair(number: int, tokens: tuple[str, str], reserves: tuple[int, int], fee: str = "0.003") -> dict[str, Any]:
    """Return a constant-product pool."""
    return {
        "kind": "constantProduct", "id": str(number), "address": f"0x{0xF00 + number:040x}", "router": f"0x{1:040x}",
        "gasEstimate": "60000", "fee": fee,
        "tokens": {token: {"balance": str(each)} for token, each in zip(tokens, reserves, strict=True)},
    }  # fmt: skip


def write_auction(orders: list[Any], liquidity: list[Any], tokens: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the body of a request."""
    return {
        "id": "1", "tokens": tokens, "orders": orders, "liquidity": liquidity, "effectiveGasPrice": "15000000000",
        "deadline": FAR, "surplusCapturingJitOrderOwners": [], **changes,
    }  # fmt: skip


@st.composite
def auctions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an auction of up to ten orders on up to six pools, with limits around what these give."""
    prices = {token: draw(st.integers(10**16, 10**20)) for token in TOKENS[1:]} | {WETH: UNIT}
    prices[TOKENS[2]] *= 10**12  # a unit of six decimals is a larger part
    tokens = {token: write_token(prices[token], DECIMALS[n]) for n, token in enumerate(TOKENS)}
    pools = []
    for number in range(draw(st.integers(0, 6))):
        one, other = draw(st.permutations(TOKENS))[:2]
        size = draw(magnitudes(10**18, 10**24))  # wei on each side
        pools.append(
            write_pair(number, (one, other), (size * UNIT // prices[one] + 1, size * UNIT // prices[other] + 1))
        )
    orders = []
    for number in range(draw(st.integers(1, 10))):
        sell, buy = draw(st.permutations(TOKENS[:3]))[:2]
        size = draw(magnitudes(10**15, 10**21))
        slack = draw(st.integers(900, 1_020))
        amounts = size * UNIT // prices[sell] + 1, size * UNIT * slack // (prices[buy] * 1000) + 1
        orders.append(
            write_order(
                number, sell, buy, amounts, kind=draw(st.sampled_from(["sell", "buy"])),
                partiallyFillable=draw(st.booleans()), **{"class": draw(st.sampled_from(["limit"] * 4 + ["market"]))},
            )
        )  # fmt: skip
    return write_auction(orders, pools, tokens)

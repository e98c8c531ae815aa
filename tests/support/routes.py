"""A route request, and how to send it with some properties changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask.testing import FlaskClient

from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM

NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
EURC_BASE = "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"
UNKNOWN = "0x" + "12" * 20
BODY = {
    "fromToken": USDC_ETHEREUM,
    "toToken": USDC_BASE,
    "fromChainId": "1",
    "toChainId": "8453",
    "inputAmount": "2500000000",
}
"""2,500 USDC from Ethereum to Base."""


def asker(client: FlaskClient) -> Callable[..., Any]:
    """Return a function that sends `BODY` with some properties changed; None leaves one out."""

    def send(**changes: Any) -> Any:
        body = {name: value for name, value in {**BODY, **changes}.items() if value is not None}
        return client.post("/v1/routes", json=body)

    return send

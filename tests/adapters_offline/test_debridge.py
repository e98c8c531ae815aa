"""deBridge: its documented answers as lanes, and orders."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.base import BadPayload
from adapters.bridges.common import Direction, check_token
from adapters.bridges.debridge import DebridgeAdapter, read_lane
from adapters.http.json_fields import Field
from adapters.testing import ReplayClient, check_adapter
from routing_engine.model import Token
from routing_engine.reference import token_registry
from tests.adapters_offline.conftest import Samples

URL = "https://dln.test/v1.0"
HERE, THERE = token_registry.token("USDC", 42161), token_registry.token("USDC", 137)
DIRECTION = Direction(HERE, THERE)
SENDER, RECIPIENT = "0x" + "12" * 20, "0x" + "34" * 20
AMOUNT = 336_778_910
"""Of the middle part of the documentation's example: what its exchange on Arbitrum gave in USDC."""


def answer(amount: int = AMOUNT, recommended: int = 336_476_680, **changes: Any) -> dict[str, Any]:
    """The documented answer, without the exchanges before and after."""
    return {
        "estimation": {
            "srcChainTokenIn": {"address": HERE.address, "chainId": 42161, "decimals": 6, "amount": str(amount)},
            "dstChainTokenOut": {
                "address": THERE.address,
                "chainId": 137,
                "decimals": 6,
                "amount": str(recommended),
                "recommendedAmount": str(recommended),
            },
            "costsDetails": [
                {"type": "DlnProtocolFee", "payload": {"feeAmount": "134711", "feeBps": "4"}},
                {"type": "TakerMargin", "payload": {"feeAmount": "134657", "feeBps": "4"}},
                {"type": "EstimatedOperatingExpenses", "payload": {"feeAmount": "32862"}},
            ],
        },
        "order": {"approximateFulfillmentDelay": 3},
        "fixFee": "1000000000000000",
        **changes,
    }


def question(amount: int, direction: Direction = DIRECTION, more: str = "") -> str:
    return (
        f"{URL}/dln/order/create-tx?srcChainId={direction.token_in.chain_id}"
        f"&srcChainTokenIn={direction.token_in.address}&srcChainTokenInAmount={amount}"
        f"&dstChainId={direction.token_out.chain_id}&dstChainTokenOut={direction.token_out.address}"
        f"&dstChainTokenOutAmount=auto&prependOperatingExpenses=false{more}"
    )


def test_it_conforms() -> None:
    back = answer(10**9, 999_167_000)
    estimate = back["estimation"]
    estimate["srcChainTokenIn"] |= {"address": THERE.address, "chainId": 137}
    estimate["dstChainTokenOut"] |= {"address": HERE.address, "chainId": 42161}
    recorded = {question(10**9): answer(10**9, 999_167_000), question(10**9, Direction(THERE, HERE)): back}
    contents = check_adapter(lambda client: DebridgeAdapter(client, (HERE, THERE), URL), recorded)
    assert [market.protocol for market in contents.markets] == ["debridge"] * 2


def test_for_the_amount_asked_it_gives_what_is_recommended() -> None:
    hop, _ = read_lane(DIRECTION, answer()).swap_exact_in(HERE, THERE, AMOUNT)
    fees = {fee.name: fee.amount for fee in hop.fees}
    assert hop.amount_out == 336_476_680
    assert (hop.fill_time_s, fees["message_fee"]) == (3, 10**15)
    # The documentation's own items; they are rounded down one by one, the lane's rounded up together.
    assert (fees["protocol_fee"], fees["relayer_fee"]) == (134_712, 134_658)
    assert fees["destination_gas_fee"] == 32_860


def test_ether_goes_by_the_zero_address(tokens: tuple[Token, ...]) -> None:
    asked: list[dict[str, Any]] = []

    class Client(ReplayClient):
        def get(self, url: str, params: Any = None) -> Any:
            asked.append(params)
            return super().get(url, params)

    with pytest.raises(Exception, match="nothing is recorded"):
        DebridgeAdapter(Client({}), (token_registry.token("ETH", 1), token_registry.token("ETH", 10)), URL).fetch()
    assert asked[0]["srcChainTokenIn"] == "0x" + "00" * 20


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("fixFee",), 1e15, "fixFee"),
        (("fixFee",), str(10**21), "fixFee"),
        (("order", "approximateFulfillmentDelay"), "3 s", "order.approximateFulfillmentDelay"),
        (("estimation", "srcChainTokenIn", "decimals"), 18, "estimation.srcChainTokenIn.decimals"),
        (("estimation", "dstChainTokenOut", "address"), HERE.address, "estimation.dstChainTokenOut.address"),
        (("estimation", "dstChainTokenOut", "recommendedAmount"), 3.5, "estimation.dstChainTokenOut.recommendedAmount"),
        (
            ("estimation", "dstChainTokenOut", "recommendedAmount"),
            str(AMOUNT + 1),
            "estimation.dstChainTokenOut.recommendedAmount",
        ),
        (("estimation", "costsDetails"), {}, "estimation.costsDetails"),
        (("estimation", "costsDetails"), [{"type": 7}], r"estimation.costsDetails\[0\].type"),
        (
            ("estimation", "costsDetails"),
            [{"type": "TakerMargin", "payload": {"feeBps": "4.0000000000000000001"}}],
            "TakerMargin",
        ),
    ],
)
def test_a_changed_field_is_named(path: tuple[str, ...], value: object, field: str) -> None:
    changed = answer()
    here: Any = changed
    for name in path[:-1]:
        here = here[name]
    here[path[-1]] = value
    with pytest.raises(BadPayload, match=f"^debridge 42161-137 USDC: {field}"):
        read_lane(DIRECTION, changed)


def test_a_firm_quote_is_an_order(tokens: tuple[Token, ...]) -> None:
    hop, _ = read_lane(DIRECTION, answer()).swap_exact_in(HERE, THERE, 5 * 10**8)
    transaction = {"to": "0xeF4fB24aD0916217251F553c0596F8Edc630EB66", "data": "0xABCD", "value": "1000000000000000"}
    order = answer(5 * 10**8, 499_560_000, tx=transaction, orderId="0x" + "19" * 32)
    people = (
        f"&dstChainTokenOutRecipient={RECIPIENT}&dstChainOrderAuthorityAddress={RECIPIENT}"
        f"&srcChainOrderAuthorityAddress={SENDER}&senderAddress={SENDER}"
    )
    adapter = DebridgeAdapter(ReplayClient({question(5 * 10**8, more=people): order}), tokens, URL)
    firm = adapter.confirm(hop, sender=SENDER, recipient=RECIPIENT)
    assert firm.hop.amount_out == 499_560_000
    assert firm.terms == {
        "orderId": "0x" + "19" * 32,
        "to": "0xef4fb24ad0916217251f553c0596f8edc630eb66",
        "data": "0xabcd",
        "value": 10**15,
    }
    order["estimation"]["srcChainTokenIn"]["amount"] = str(6 * 10**8)
    order["estimation"]["dstChainTokenOut"]["recommendedAmount"] = str(5 * 10**8)
    swapped = DebridgeAdapter(ReplayClient({question(5 * 10**8, more=people): order}), tokens, URL)
    with pytest.raises(BadPayload, match=r"srcChainTokenIn\.amount must be from 500000000"):
        swapped.confirm(hop, sender=SENDER, recipient=RECIPIENT)


@pytest.mark.shared_data
def test_every_recorded_sample(samples: Samples) -> None:
    documented, described = samples("debridge")
    assert "fields" in described, "types only: the fields read here are among them"
    read = {"amount:string", "chainId:number", "decimals:number", "address"}
    assert read <= set(described["fields"]["estimation.srcChainTokenIn"])
    assert "recommendedAmount:string" in described["fields"]["estimation.dstChainTokenOut"]
    partial = documented["response_partial"]
    sent = Field(partial, "debridge").get("estimation", "srcChainTokenIn")
    check_token(sent, token_registry.token("ARB", 42161))
    assert sent.get("amount").read_integer() == 10**21 + sent.get("approximateOperatingExpense").read_integer()
    with pytest.raises(BadPayload, match=r"estimation\.dstChainTokenOut is missing"):
        read_lane(Direction(token_registry.token("ARB", 42161), token_registry.token("POL", 137)), partial)

"""A wallet that executes routes on local chains: it asks the service, signs what it is offered, and follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.settlement import ChainShop, Wallet

TERMS = ("purpose", "chainId", "from", "to", "value", "data", "gasLimit")


def ask_routes(
    shop: ChainShop, ends: tuple[tuple[int, str], tuple[int, str]], payer: str, recipient: str, **changes: object
) -> dict[str, Any]:
    """Ask for routes from one token to another, each a chain and a symbol, with the legs for a wallet."""
    body = write_question(shop, ends, payer, recipient, **changes)
    answer = shop.shop.client.post("/v1/routes", json=body, headers=shop.shop.merchant.headers())
    assert answer.status_code == 200, answer.get_json()
    found: dict[str, Any] = answer.get_json()
    return found


def write_question(
    shop: ChainShop, ends: tuple[tuple[int, str], tuple[int, str]], payer: str, recipient: str, **changes: object
) -> dict[str, object]:
    """Return the body that asks for such routes."""
    (chain_in, symbol_in), (chain_out, symbol_out) = ends
    return {
        "fromChainId": chain_in,
        "toChainId": chain_out,
        "fromToken": shop.token(chain_in, symbol_in),
        "toToken": shop.token(chain_out, symbol_out),
        "payer": payer,
        "recipient": recipient,
        **changes,
    }


def send_leg(wallet: Wallet, leg: Mapping[str, Any]) -> str:
    """Sign what is offered of a leg, with its gas limits; return the last hash."""
    assert leg["status"] == "ready", leg
    tx_hash = ""
    for each in leg["transactions"]:
        assert tuple(each) == TERMS
        assert (each["chainId"], each["from"].lower()) == (wallet.chain.chain_id, wallet.address)
        data, value = bytes.fromhex(each["data"][2:]), int(each["value"], 16)
        tx_hash = wallet.send(each["to"], data, value=value, gas=each["gasLimit"], gasPrice="0x0")
        receipt = wallet.chain.rpc("eth_getTransactionReceipt", tx_hash)
        assert receipt["status"] == "0x1", each
    return tx_hash


def follow(shop: ChainShop, chain_id: int, tx_hash: str) -> dict[str, Any]:
    """Ask what became of a transaction."""
    query = {"chainId": chain_id, "transactionHash": tx_hash}
    answer = shop.shop.client.get("/v1/routes/status", query_string=query, headers=shop.shop.merchant.headers())
    assert answer.status_code == 200, answer.get_json()
    found: dict[str, Any] = answer.get_json()
    return found


def forget_inquiries(shop: ChainShop) -> None:
    """Let the answers of a moment ago be forgotten."""
    for access in shop.shop.resources.chain_access.values():
        for inquiries in (access.lookups, access.trials):
            inquiries.choose(has_key=True)._kept.clear()

"""The operator's commands for settlement accounts: which are set, replaced, removed and refused."""

from __future__ import annotations

import json
import re

import pytest
from eth_utils.address import to_checksum_address

from adapters.chain.deployments import read_deployments
from adapters.rpc.multicall import MULTICALL3
from api.domain.env import EnvMode
from api.services.resources import Resources
from api.services.vendors.vendors import list_accounts
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.api.conftest import Merchant, Run
from tests.support.shop import Shop

USDC = token_registry.token("USDC", 1).address
ROUTERS_AND_BRIDGES = tuple(
    next(read_deployments(protocol, 1)).get_address(field)
    for protocol, field in (("uniswap_v3", "router"), ("across", "spoke_pool"), ("cctp", "token_messenger"))
)
RECIPIENT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


@pytest.mark.rule("links.23")
def test_a_new_vendor_can_be_paid_in_the_test_environment(resources: Resources, merchant: Merchant) -> None:
    with resources.database.read() as session:
        accounts = {account.currency: account for account in list_accounts(session, merchant.id, EnvMode.TEST)}
        assert list_accounts(session, merchant.id, EnvMode.LIVE) == ()
    assert {"USDC", "USDT", "DAI", "ETH", "WETH", "WBTC", "EURC"} <= set(accounts)
    assert accounts["USDC"].token_address == "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
    assert (accounts["USDC"].chain_id, accounts["USDC"].token_decimals) == (8453, 6)
    elsewhere = [info for info in token_registry.tokens() if 8453 not in info.addresses and 1 in info.addresses]
    assert elsewhere
    assert {accounts[info.symbol].chain_id for info in elsewhere} == {1}
    assert accounts["ETH"].token_address == "0x" + "ee" * 20
    assert len({account.address for account in accounts.values()}) == 1
    assert re.fullmatch("0x[0-9a-f]{40}", accounts["USDC"].address)


def test_accounts_are_set_and_replaced(run: Run, merchant: Merchant) -> None:
    words = ("settlement", "set", merchant.id, "--env", "live", "--currency", "usdc", "--address", RECIPIENT)
    first = run(*words, "--chain", "1", "--token", "USDC")
    assert first.stdout == f"Tea & Co, live: USDC is received as USDC on chain 1 at {RECIPIENT}.\n"
    second = run(*words, "--chain", "8453", "--token", token_registry.token("USDT", 8453).address)
    assert second.stdout == f"Tea & Co, live: USDC is received as USDT on chain 8453 at {RECIPIENT}.\n"
    assert f"Before it was received as USDC on chain 1 at {RECIPIENT}" in second.stderr
    assert "Before" not in first.stderr
    (row,) = [
        json.loads(line)
        for line in run("settlement", "list", "Tea & Co", "--env", "live", "--json").stdout.splitlines()
    ]
    assert row == {
        "currency": "USDC",
        "chain_id": 8453,
        "token_address": to_checksum_address(token_registry.token("USDT", 8453).address),
        "token_decimals": 6,
        "address": RECIPIENT,
    }
    header, shown = run("settlement", "list", "Tea & Co", "--env", "live").stdout.splitlines()
    assert header.split() == ["currency", "chain", "id", "token", "address", "token", "decimals", "address"]
    assert shown.endswith(RECIPIENT)


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--currency": "GOLD"}, "currency: 'GOLD' is not the symbol"),
        ({"--currency": "USD"}, "currency: 'USD' is not the symbol"),
        ({"--token": "ARB", "--chain": "8453"}, "ARB is not known on chain 8453"),
        ({"--token": "0x12"}, "token: Expected 0x"),
        ({"--currency": "ETH"}, "token: USDC is not worth what ETH is: a price of 1 ETH would be paid with 1 USDC"),
        ({"--currency": "EURC"}, "token: USDC is not worth what EURC is"),
        ({"--token": "WETH"}, "token: WETH is not worth what USDC is"),
        ({"--token": "0x" + "12" * 20}, "decimals: Required"),
        ({"--address": RECIPIENT.replace("5aA", "5AA")}, "address: The checksum is wrong"),
        ({"--address": "0x" + "0" * 40}, "address: The zero address"),
        ({"--address": "me.eth"}, "address: Expected 0x"),
        ({"--chain": "56"}, "chain: Unknown chain 56; use one of 1 (Ethereum)"),
        ({"--token": "0x" + "12" * 20, "--decimals": "18"}, "chain: Connect chain 1 in RPC_URLS first"),
        ({"--decimals": "18"}, "decimals: USDC has 6, not 18"),
        ({"--token": USDC, "--decimals": "18"}, "decimals: USDC has 6, not 18"),
        ({"--address": USDC}, "address: Is the token's own contract"),
        ({"--address": token_registry.token("DAI", 1).address}, "address: Is the contract of a token"),
        ({"--address": CHAINS[1].wrapped_native}, "address: Is the contract of a token"),
        ({"--address": NATIVE_ADDRESS}, "address: Is nobody's"),
        ({"--address": "0x" + "0" * 39 + "4"}, "address: Is nobody's"),
        ({"--address": MULTICALL3}, "address: Is a contract of a market or a bridge"),
        *(({"--address": each}, "address: Is") for each in ROUTERS_AND_BRIDGES),
    ],
)
def test_a_bad_account_is_named(run: Run, merchant: Merchant, changes: dict[str, str], message: str) -> None:
    options = {"--currency": "USDC", "--chain": "1", "--token": "USDC", "--address": RECIPIENT} | changes
    words = [word for pair in options.items() for word in pair]
    result = run("settlement", "set", merchant.id, "--env", "live", *words)
    assert result.exit_code == 1
    assert message in result.output


@pytest.mark.parametrize(("currency", "token"), [("USDC", "DAI"), ("ETH", "WETH"), ("WETH", "ETH"), ("EURC", "EURC")])
def test_a_token_of_the_same_worth_settles_a_currency(run: Run, merchant: Merchant, currency: str, token: str) -> None:
    words = ("--currency", currency, "--chain", "1", "--token", token, "--address", RECIPIENT)
    assert run("settlement", "set", merchant.id, "--env", "live", *words).exit_code == 0


def test_an_account_is_removed_and_open_orders_keep_their_terms(run: Run, shop: Shop, merchant: Merchant) -> None:
    order_id = shop.create()
    before = shop.order(order_id)["settlement"]
    words = ("settlement", "remove", "Tea & Co", "--env", "test", "--currency", "usdc")
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "1 open orders keep their terms" in result.output
    assert shop.order(order_id)["settlement"] == before
    assert '"USDC"' not in run("settlement", "list", merchant.id, "--env", "test", "--json").stdout
    again = run(*words)
    assert again.exit_code == 1
    assert "There is no account for usdc in test mode" in again.output


def test_a_chain_that_is_not_connected_is_said(run: Run, merchant: Merchant) -> None:
    words = ("settlement", "set", merchant.id, "--currency", "USDC", "--chain", "1", "--token", "USDC")
    live = run(*words, "--env", "live", "--address", RECIPIENT)
    assert "links in this currency are refused" in live.stderr
    simulated = run(*words, "--env", "test", "--address", "0x" + "12" * 20)
    assert simulated.exit_code == 0
    assert "not connected" not in simulated.stderr

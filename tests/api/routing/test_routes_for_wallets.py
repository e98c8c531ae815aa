"""Routes with a payer and a recipient: what is refused, what the sandbox says, and how much of it anybody gets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.app import build_app
from api.domain.env import EnvMode
from api.schemas.routing.queries import EXAMPLE, USDC_BASE
from api.services.chains.chain_access import ChainAccess
from api.services.chains.inquiries import MOST_AT_ONCE
from api.services.execution import executable_routes, following
from api.services.resources import Resources
from tests.api.conftest import Merchant
from tests.support.silence import never_answering

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")

PAYER, RECIPIENT = "0x" + "a1" * 20, "0x" + "b2" * 20
WALLETS = {"payer": PAYER, "recipient": RECIPIENT}
HASH = "0x" + "12" * 32
SPOKE_POOL = "0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64"
"""Across's on Base."""


def ask(client: FlaskClient, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/routes", json={**EXAMPLE, **changes})
    assert answer.status_code == 200, answer.get_json()
    found: dict[str, Any] = answer.get_json()
    return found


def test_without_wallets_nothing_is_added(client: FlaskClient) -> None:
    plain, executable = ask(client, alternatives=2), ask(client, alternatives=2, **WALLETS)
    assert [name for name in executable if name != "legs"] == list(plain)
    for route, other in zip(plain["alternatives"], executable["alternatives"], strict=True):
        assert "legs" not in route
        assert list(route) == [name for name in other if name != "legs"]
        assert other["legs"]


@pytest.mark.parametrize("name", ["payer", "recipient"])
def test_both_or_neither(client: FlaskClient, assert_error: Any, name: str) -> None:
    other = ({"payer", "recipient"} - {name}).pop()
    answer = client.post("/v1/routes", json={**EXAMPLE, name: WALLETS[name]})
    assert_error(answer, 400, {other: f"Required with {name}"})


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("0x12", "Expected an address: 0x and 40 hexadecimal digits"),
        (None, "Expected string, received null"),
        (7, "Expected string, received number"),
        ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"[:-1] + "e", "The checksum (EIP-55) is wrong"),
        ("0x" + "00" * 20, "The zero address would burn the money"),
        ("0x" + "00" * 19 + "09", "Is nobody's: it is reserved for the chain itself"),
        ("0x" + "ee" * 20, "Is nobody's: it is reserved for the chain itself"),
        (USDC_BASE, "Is the token's own contract; what it receives is lost"),
        (SPOKE_POOL, "Is a contract of a market or a bridge; anybody could take what it receives"),
    ],
)
def test_what_is_nobodys_wallet_receives_nothing(client: FlaskClient, address: object, message: str) -> None:
    answer = client.post("/v1/routes", json={**EXAMPLE, "payer": PAYER, "recipient": address})
    (row,) = answer.get_json()["error"]
    assert (answer.status_code, row["path"]) == (400, "recipient")
    assert row["message"].startswith(message)


def test_a_right_checksum_is_taken(client: FlaskClient) -> None:
    route = ask(client, payer="0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", recipient=RECIPIENT)
    assert route["legs"][0]["sender"] == "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def test_where_no_chain_is_connected_each_leg_says_so(client: FlaskClient, merchant: Merchant) -> None:
    """Without a key the chains with real money are meant, with a test key those of the test environment."""
    (leg,) = ask(client, maxSplits=1, allowProtocols=["across"], **WALLETS)["legs"]
    assert (leg["status"], leg["transactions"], leg["approvals"]) == ("chain_not_connected", [], [])
    assert "RPC_URLS" in leg["message"]
    answer = client.post("/v1/routes", json={**EXAMPLE, **WALLETS}, headers=merchant.headers())
    assert {leg["status"] for leg in answer.get_json()["legs"]} <= {"chains_simulated", "no_builder"}
    for headers, word in (({}, "RPC_URLS"), (merchant.headers(), "simulated")):
        query = {"chainId": 1, "transactionHash": HASH}
        seen = client.get("/v1/routes/status", query_string=query, headers=headers).get_json()
        assert (seen["status"], seen["deliveries"], word in seen["message"]) == ("unknown", [], True)


def test_what_is_named_instead_of_a_leg_that_nobody_builds_can_be_asked_for(client: FlaskClient) -> None:
    (leg,) = ask(client, maxSplits=1, allowProtocols=["cctp_standard"], **WALLETS)["legs"]
    assert leg["status"] == "no_builder"
    named = json.loads(leg["message"].partition('"allowProtocols": ')[2])
    assert {"across", "uniswap_v3"} <= set(named)
    assert "cctp_fast_forwarded" not in named, "the sandbox has none, and would refuse the name"
    (other,) = ask(client, maxSplits=1, allowProtocols=named, **WALLETS)["legs"]
    assert other["status"] == "chain_not_connected"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"chainId": "1"}, "transactionHash"),
        ({"transactionHash": HASH}, "chainId"),
        ({"chainId": "1", "transactionHash": "0x12"}, "transactionHash"),
        ({"chainId": "99", "transactionHash": HASH}, "chainId"),
        ({"chainId": "1", "transactionHash": HASH, "data": "0x"}, "data"),
    ],
)
def test_a_status_is_asked_for_by_chain_and_hash_alone(client: FlaskClient, query: dict[str, str], path: str) -> None:
    answer = client.get("/v1/routes/status", query_string=query)
    assert (answer.status_code, [row["path"] for row in answer.get_json()["error"]]) == (400, [path])


@pytest.mark.parametrize("rejected", [PAYER, RECIPIENT])
def test_for_whom_the_screen_rejects_nothing_is_built(resources: Resources, rejected: str) -> None:
    def screen(addresses: Collection[str]) -> Collection[str]:
        return [each for each in addresses if each == rejected]

    with never_answering() as url:
        served = build_app(replace(connect(resources, url), screen=screen))
        (leg,) = ask(served.test_client(), allowProtocols=["across"], **WALLETS)["legs"]
        assert (leg["status"], leg["transactions"]) == ("wallet_rejected", [])


def test_a_screen_that_fails_lets_nobody_through(resources: Resources) -> None:
    def screen(addresses: Collection[str]) -> Collection[str]:
        raise TimeoutError("no answer")

    with never_answering() as url:
        served = build_app(replace(connect(resources, url), screen=screen))
        (leg,) = ask(served.test_client(), allowProtocols=["across"], **WALLETS)["legs"]
        assert (leg["status"], leg["transactions"]) == ("no_answer", [])


def connect(resources: Resources, url: str) -> Resources:
    """Return resources whose live chain is one endpoint."""
    client = JsonClient(limits=HttpLimits(connect_s=5.0, read_s=10.0, total_s=10.0, tries=1))
    chains = {chain_id: PaymentChain(RpcPool(chain_id, [url], client=client)) for chain_id in (1, 8453)}

    class Nobody:
        def confirm(self, *args: object, **options: object) -> Any:
            return chains[1].rpc.read_head()

    access = ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=Nobody())
    return replace(resources, chain_access={EnvMode.LIVE: access})


@pytest.fixture
def hanging(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    """The service, with chains that take every question and never answer."""
    monkeypatch.setattr(executable_routes, "PATIENCE_S", 0.3)
    monkeypatch.setattr(following, "PATIENCE_S", 0.3)
    with never_answering() as url:
        yield build_app(connect(resources, url)).test_client()


def test_a_chain_that_hangs_gives_a_reason_in_time(hanging: FlaskClient) -> None:
    ask(hanging, maxSplits=1)  # the market is loaded
    begun = time.monotonic()
    (leg,) = ask(hanging, allowProtocols=["across"], **WALLETS)["legs"]
    seen = hanging.get("/v1/routes/status", query_string={"chainId": 1, "transactionHash": HASH}).get_json()
    assert time.monotonic() - begun < 5
    assert (leg["status"], leg["transactions"], seen["status"]) == ("no_answer", [], "unknown")
    assert "does not answer" in leg["message"]
    assert "does not answer" in seen["message"]


def test_whoever_floods_a_chain_that_hangs_takes_few_threads(hanging: FlaskClient) -> None:
    before = threading.active_count()
    statuses = [
        ask(hanging, allowProtocols=["across"], payer=f"0x{number:040x}", recipient=RECIPIENT)["legs"][0]["status"]
        for number in range(0xA0000, 0xA0000 + MOST_AT_ONCE + 4)
    ]
    assert "busy" in statuses, "an endpoint that hangs holds up no more threads than it may"
    assert threading.active_count() - before <= MOST_AT_ONCE + 4


def test_strangers_do_not_use_up_what_is_for_callers_with_a_key(resources: Resources, merchant: Merchant) -> None:
    with never_answering() as url:
        real = connect(resources, url)
        access = real.chain_access[EnvMode.LIVE]
        strangers = access.lookups.choose(has_key=False)
        gate = threading.Event()
        for number in range(MOST_AT_ONCE):
            strangers.begin(1, number, lambda: gate.wait(5))
        client = build_app(real).test_client()
        query = {"chainId": 1, "transactionHash": HASH}
        told = [
            client.get("/v1/routes/status", query_string=query, headers=headers).get_json()["message"]
            for headers in ({}, merchant.headers("live"))
        ]
        gate.set()
    assert ["Too many" in message for message in told] == [True, False]


@pytest.mark.parametrize("name", ['"payer"', '"\\u0070ayer"'])
def test_trials_have_a_rate_limit_of_their_own(make_app: Any, name: str) -> None:
    client = make_app(rate_limit_routing=10, rate_limit_keyless=100).test_client()
    other = json.dumps({**EXAMPLE, "recipient": RECIPIENT})
    body = other[:-1] + f', {name}: "{PAYER}"}}'
    headers = {"Content-Type": "application/json"}
    statuses = [client.post("/v1/routes", data=body, headers=headers).status_code for _ in range(3)]
    assert statuses == [200, 200, 429], "a fifth of what may search"
    assert client.post("/v1/routes", json=EXAMPLE).status_code == 200, "plain routes are not counted with them"

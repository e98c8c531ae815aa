"""Firm quotes in the stream of routes: what a bridge says just now counts, and who says nothing is named."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient
from websockets.sync.client import connect

from adapters.base import Declined, FirmQuote, VenueUnavailable
from adapters.transactions.payment_builders import PaymentBuilders
from api.app import build_app
from api.domain.env import EnvMode
from api.schemas.routing.queries import EXAMPLE
from api.services.chains.chain_access import ChainAccess
from api.services.execution import firm_routes
from api.services.execution.firm_routes import DECLINES, ROUNDS, SILENT
from api.services.resources import Resources
from routing_engine import Hop
from tests.support.stream import PATH, ask, served

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")

PAYER, RECIPIENT = "0x" + "a1" * 20, "0x" + "b2" * 20
BODY = {**EXAMPLE, "payer": PAYER, "recipient": RECIPIENT, "maxSplits": 1, "maxHops": 1}
TO_WETH = {
    **BODY,
    "toToken": "0x4200000000000000000000000000000000000006",
    "allowProtocols": ["across", "uniswap_v3"],
    "maxSplits": 5,
    "maxHops": 3,
}
"""Behind the bridge something is swapped, too."""


@dataclass
class Bridges:
    """What each protocol does when it is asked: keep so many millionths more, or raise."""

    does: dict[str, int | Exception] = field(default_factory=dict)
    otherwise: int | Exception = 0
    asked: list[tuple[Hop, str, str]] = field(default_factory=list)

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        self.asked.append((hop, sender, recipient))
        does = self.does.get(hop.protocol, self.otherwise)
        if isinstance(does, Exception):
            raise does
        return FirmQuote(hop=replace(hop, amount_out=hop.amount_out * (10**6 - does) // 10**6))


Listen = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def bridges() -> Bridges:
    return Bridges()


def make_client(resources: Resources, firm: Any) -> FlaskClient:
    access = ChainAccess(chains=dict.fromkeys((1, 137, 8453)), builders=PaymentBuilders.load(), firm=firm)  # type: ignore[arg-type]
    return build_app(replace(resources, chain_access={EnvMode.LIVE: access})).test_client()


def listen(client: FlaskClient, body: dict[str, Any] = BODY) -> list[dict[str, Any]]:
    answer = client.post(PATH, json=body)
    assert answer.status_code == 200, answer.get_json()
    return [json.loads(block.removeprefix("data: ")) for block in answer.get_data(as_text=True).split("\n\n")[:-1]]


def list_bridges(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in message["route"]["steps"] if step["fromChainId"] != step["toChainId"]]


@pytest.mark.rule("stream.3")
@pytest.mark.parametrize("worse_by", [0, 1, 10_000])
def test_what_a_bridge_confirms_is_a_route_to_the_unit(resources: Resources, bridges: Bridges, worse_by: int) -> None:
    bridges.otherwise = worse_by
    *routes, done = listen(make_client(resources, bridges))
    indicative = [each for each in routes if not any("isFirm" in step for step in list_bridges(each))]
    firm = [each for each in routes if each not in indicative]
    assert [each["seq"] for each in routes] == list(range(len(routes)))
    assert len(firm) >= 2, "one that tells the quote, and one with the legs"
    for step in (step for each in firm[-2:] for step in list_bridges(each) if "isFirm" in step):
        told = [
            hop.amount_out * (10**6 - worse_by) // 10**6
            for hop, _, _ in bridges.asked
            if (hop.protocol, str(hop.amount_in)) == (step["protocol"], step["inputAmount"])
        ]
        assert (step["isFirm"], int(step["outputAmount"])) == (True, told[0])
        fees = sum(int(fee["amount"]) for fee in step["fees"] if fee["included"])
        assert int(step["inputAmount"]) - fees == int(step["outputAmount"])
    assert int(firm[-1]["route"]["outputAmount"]) <= int(indicative[-1]["route"]["outputAmount"])
    assert ["legs" in each["route"] for each in routes] == [False] * (len(routes) - 1) + [True]
    assert done == {"type": "done", "best": routes[-1]["route"]["id"], "unavailable": []}
    for hop, sender, recipient in bridges.asked:
        assert (sender, recipient) == (PAYER, RECIPIENT if hop.token_out.chain_id == 8453 else PAYER)


@pytest.mark.rule("stream.3")
def test_what_is_swapped_behind_a_bridge_is_reckoned_anew(resources: Resources, bridges: Bridges) -> None:
    bridges.otherwise = 100
    client = make_client(resources, bridges)
    *routes, _done = listen(client, TO_WETH)
    before, last = routes[0]["route"], routes[-1]["route"]
    assert 0.999 < int(last["outputAmount"]) / int(before["outputAmount"]) < 1
    assert all(step["isFirm"] for step in list_bridges(routes[-1]))
    arrived = sum(int(step["outputAmount"]) for step in list_bridges(routes[-1]))
    spent = [step for step in last["steps"] if step["fromChainId"] == step["toChainId"] == 8453]
    assert sum(int(step["inputAmount"]) for step in spent if step["fromToken"] == spent[0]["fromToken"]) == arrived


@pytest.mark.rule("stream.3")
def test_a_bridge_that_has_become_dear_loses_to_another(resources: Resources, bridges: Bridges) -> None:
    first = list_bridges(listen(make_client(resources, Bridges()))[-2])[0]["protocol"]
    bridges.does[first] = 50_000
    *routes, _done = listen(make_client(resources, bridges))
    (last,) = list_bridges(routes[-1])
    assert last["isFirm"]
    assert last["protocol"] != first
    assert bridges.asked[0][0].protocol == first


def test_a_fixed_output_asks_what_it_costs(resources: Resources, bridges: Bridges) -> None:
    bridges.otherwise = 10_000
    body = {name: value for name, value in BODY.items() if name != "inputAmount"} | {"outputAmount": "2500000000"}
    *routes, _done = listen(make_client(resources, bridges), body)
    assert {each["route"]["outputAmount"] for each in routes} == {"2500000000"}
    assert int(routes[-1]["route"]["inputAmount"]) > int(routes[0]["route"]["inputAmount"])


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        (Declined("no", status=400), DECLINES),
        (VenueUnavailable("no"), SILENT),
        (RuntimeError("a defect of an adapter"), SILENT),
    ],
)
def test_who_does_not_confirm_is_named(resources: Resources, bridges: Bridges, does: Exception, reason: str) -> None:
    first = list_bridges(listen(make_client(resources, Bridges()))[-2])[0]["protocol"]
    bridges.does[first] = does
    *routes, done = listen(make_client(resources, bridges))
    assert done["unavailable"] == [{"protocol": first, "reason": reason}]
    assert done["best"] == routes[-1]["route"]["id"]
    (last,) = list_bridges(routes[-1])
    assert (last["protocol"] == first) == (reason == SILENT), "who declines is not offered"
    assert ("isFirm" in last) == (reason == DECLINES)


def test_all_that_decline_leave_the_route_as_it_was_read(resources: Resources, bridges: Bridges) -> None:
    bridges.otherwise = Declined("no", status=400)
    *routes, done = listen(make_client(resources, bridges))
    assert not any("isFirm" in step for each in routes for step in list_bridges(each))
    assert 1 <= len(done["unavailable"]) <= ROUNDS
    assert len(bridges.asked) <= ROUNDS


def test_a_bridge_that_hangs_keeps_nobody(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    class Hanging:
        def confirm(self, *_: object, **__: object) -> Any:
            gate.wait(20)

    monkeypatch.setattr(firm_routes, "PATIENCE_S", 0.2)
    client = make_client(resources, Hanging())
    begun = time.monotonic()
    *routes, done = listen(client)
    taken = time.monotonic() - begun
    gate.set()
    assert taken < 10
    assert [row["reason"] for row in done["unavailable"]] == [SILENT]
    assert routes[-1]["route"]["legs"]


def test_without_real_chains_nobody_is_asked(client: FlaskClient) -> None:
    *routes, done = listen(client)
    assert not any("isFirm" in step for each in routes for step in list_bridges(each))
    assert done["unavailable"] == []
    assert {leg["status"] for leg in routes[-1]["route"]["legs"]} <= {"chain_not_connected", "no_builder"}


def test_without_a_wallet_nobody_is_asked(resources: Resources, bridges: Bridges) -> None:
    *routes, _done = listen(make_client(resources, bridges), EXAMPLE)
    assert bridges.asked == []
    assert not any("legs" in each["route"] for each in routes)


@pytest.mark.rule("stream.3", "stream.9")
def test_a_socket_and_an_address_get_them_too(resources: Resources, bridges: Bridges) -> None:
    app = make_client(resources, bridges).application
    with served(app) as address:
        with connect(f"ws://{address}{PATH}") as connection:
            over_socket = ask(connection, BODY)
        answer = requests.get(f"http://{address}{PATH}", params=BODY, timeout=10)
    for last in (over_socket[-2], json.loads(answer.text.split("\n\n")[-3].removeprefix("data: "))):
        assert list_bridges(last)[0]["isFirm"]
        assert last["route"]["legs"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_streams_for_wallets_are_counted_as_trials(make_app: Any, method: str) -> None:
    client = make_app(rate_limit_routing=10, rate_limit_keyless=100).test_client()
    sent = {"query_string": BODY} if method == "get" else {"json": BODY}
    statuses = [getattr(client, method)(PATH, **sent).status_code for _ in range(3)]
    assert statuses == [200, 200, 429], "a fifth of what may search"
    assert client.post(PATH, json=EXAMPLE).status_code == 200

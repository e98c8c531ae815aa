"""For the tests of the guide: one service as its first page starts it, and a delivery that it has sent."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import pytest
import requests
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.running import RunningService, run_service
from tests.support.webhook_receivers import Delivery

PATIENCE_S = 60
LINK = {
    "line_items": [{"title": "Teapot", "quantity": 1}],
    "order_price": {"currency": "USDC", "amount": 25_000_000, "decimals": 6},
    "env_mode": "test",
    "success_callback_url": "http://localhost:3000/paid",
    "cancel_callback_url": "http://localhost:3000/cart",
    "failure_callback_url": "http://localhost:3000/failed",
}


@pytest.fixture(scope="package")
def guide_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """The service of `make serve`."""
    with run_service(tmp_path_factory.mktemp("guide")) as running:
        yield running


@pytest.fixture(scope="module")
def delivery(guide_service: RunningService) -> Delivery:
    """What the service sends to a webhook about a payment that has succeeded: the very bytes."""
    received: queue.Queue[tuple[bytes, dict[str, str]]] = queue.Queue()

    def keep(request: Request) -> Response:
        received.put((request.get_data(), {name.lower(): value for name, value in request.headers.items()}))
        return Response(status=204)

    headers, api = {"X-Api-Key": guide_service.key}, f"{guide_service.url}/api/v1"
    with HTTPServer(host="127.0.0.1") as server:
        server.expect_request("/hook").respond_with_handler(keep)
        body = {"webhook_url": server.url_for("/hook"), "env_mode": "test", "events": ["payment_success"]}
        made = requests.post(f"{api}/webhook_subscription", json=body, headers=headers, timeout=PATIENCE_S).json()[
            "data"
        ]
        order = requests.post(f"{api}/payment_link", json=LINK, headers=headers, timeout=PATIENCE_S).json()
        path = f"{api}/payment/{order['payment_order_id']}/simulate"
        requests.post(path, json={"action": "pay"}, headers=headers, timeout=PATIENCE_S).raise_for_status()
        content, sent = received.get(timeout=PATIENCE_S)
        requests.delete(f"{api}/webhook_subscription/{made['webhook_id']}", headers=headers, timeout=PATIENCE_S)
    return Delivery(
        body=content,
        id=sent["webhook-id"],
        timestamp=sent["webhook-timestamp"],
        signature=sent["webhook-signature"],
        secret=made["secret"],
    )

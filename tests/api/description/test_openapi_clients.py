"""The OpenAPI document is valid, and the usual generators make clients of it that work, without a warning."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.api.conftest import Merchant
from tests.support.contract import read_document
from tests.support.npm_tools import BIN, install_tools, name_environment

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")

SOURCE = Path(__file__).parents[2] / "support" / "typescript"


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    return read_document(app)


@pytest.fixture
def file(document: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document))
    return path


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=name_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.mark.rule("operation.1")
def test_the_document_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_a_generated_python_client_works(
    file: Path, app: Flask, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("generate", "--path", file, "--meta", "none", "--fail-on-warning", "--output-path", "checkout_client")
    said = run(BIN / "openapi-python-client", *command, cwd=file.parent)
    assert "WARNING" not in said
    monkeypatch.syspath_prepend(file.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(name: str) -> Any:
        return importlib.import_module(f"checkout_client.{name}")

    models = load("models")
    client = load("client").Client(base_url="https://pay.example")
    http = httpx.Client(transport=httpx.WSGITransport(app), base_url="https://pay.example", headers=merchant.headers())
    client.set_httpx_client(http)
    link = models.NewPaymentLink(
        line_items=[models.NewLineItem(title="Shoes", quantity=1)],
        order_price=models.NewOrderPrice(currency="USDC", amount=25_000_000, decimals=6),
        env_mode=models.EnvMode.TEST,
        success_callback_url="https://shop.example/paid",
        cancel_callback_url="https://shop.example/cart",
        failure_callback_url="https://shop.example/failed",
    )
    made = load("api.payment_links.create_payment_link").sync(client=client, body=link, idempotency_key="cart-7")
    order = load("api.payments.get_payment_order").sync(made.payment_order_id, client=client)
    assert order.payment_order_status is models.OrderStatus.CREATED
    assert order.order_price.amount == 25_000_000
    assert isinstance(order.settlement, models.Settlement)
    assert order.settlement.chain_id == 8453
    assert order.amount_due == order.settlement.amount == "25000000"
    link.line_items[0].quantity = 0
    refused = load("api.payment_links.create_payment_link").sync_detailed(client=client, body=link)
    assert refused.status_code == 400
    assert isinstance(refused.parsed, models.Error)
    assert [each.path for each in refused.parsed.error] == ["line_items.0.quantity"]
    http.close()
    for name in [name for name in sys.modules if name.partition(".")[0] == "checkout_client"]:
        monkeypatch.delitem(sys.modules, name)


def test_generated_types_fit_a_merchant_in_typescript(file: Path) -> None:
    tools = install_tools(SOURCE)
    home = file.parent
    (home / "node_modules").symlink_to(tools / "node_modules", target_is_directory=True)
    for name in ("merchant.ts", "tsconfig.json"):
        shutil.copy(SOURCE / name, home)
    node = shutil.which("node", path=str(BIN)) or "node"
    said = run(node, "node_modules/openapi-typescript/bin/cli.js", file, "-o", "schema.ts", cwd=home)
    assert "warn" not in said.lower()
    assert run(node, "node_modules/typescript/bin/tsc", "-p", ".", cwd=home) == ""

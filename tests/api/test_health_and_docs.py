"""Health, metrics, and the API's description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flask import Flask
from flask.testing import FlaskClient

from api.context import Context
from api.storage.db import Database
from tests.api.conftest import Merchant
from tests.api.probe import probe_app


def test_health_and_readiness(client: FlaskClient) -> None:
    assert client.get("/healthz").get_json() == {"status": "ok", "chains_without_traces": {"live": [], "test": []}}
    assert client.get("/readyz").get_json() == {"status": "ready", "revision": "0002"}


def test_an_unmigrated_database_is_not_ready(
    context: Context, make_database_url: Callable[[str], str], assert_error: Callable[..., None]
) -> None:
    database = Database(make_database_url(context.database.engine.dialect.name))
    response = probe_app(replace(context, database=database)).test_client().get("/readyz")
    database.close()
    assert_error(response, 503, {})
    assert "checkout db upgrade" in response.get_json()["message"]


def test_metrics_count_by_route_and_never_by_id(context: Context, merchant: Merchant) -> None:
    client = probe_app(context).test_client()
    for number in (404, 409, 409):
        client.get(f"/v1/probe/refuse/{number}")
    client.get("/v1/nothing/7")
    text = client.get("/metrics").get_data(as_text=True)
    assert 'checkout_http_requests_total{method="GET",route="/v1/probe/refuse/<code>",status="409"} 2.0' in text
    assert 'checkout_http_requests_total{method="GET",route="unknown",status="404"} 1.0' in text
    assert 'checkout_http_request_seconds_count{route="/v1/probe/refuse/<code>"} 3.0' in text
    assert "/v1/nothing" not in text


def test_metrics_can_ask_for_a_token(make_app: Callable[..., Flask], assert_error: Callable[..., None]) -> None:
    client = make_app(metrics_token="s3cret").test_client()
    assert_error(client.get("/metrics"), 401)
    assert_error(client.get("/metrics", headers={"Authorization": "Bearer wrong"}), 401)
    assert client.get("/metrics", headers={"Authorization": "Bearer s3cret"}).status_code == 200


def test_the_openapi_document_describes_bodies_errors_and_keys(context: Context) -> None:
    document = probe_app(context).test_client().get("/openapi.json").get_json()
    assert document["openapi"] == "3.0.3"
    assert document["components"]["securitySchemes"]["ApiKey"]["name"] == "X-Api-Key"
    assert document["paths"]["/v1/probe/private"]["post"]["security"] == [{"ApiKey": []}]
    assert document["paths"]["/v1/probe/public"]["get"]["security"] == [{"ApiKey": []}, {}]
    everything = document["paths"]["/v1/probe/everything"]["post"]
    assert everything["responses"]["400"]["$ref"] == "#/components/responses/BAD_REQUEST"
    schemas = document["components"]["schemas"]
    assert schemas["Everything"]["required"] == ["env_mode", "items", "price", "url"]
    assert set(schemas["Error"]["properties"]) == {"message", "code", "error"}
    assert schemas["Price"]["properties"]["amount"]["type"] == "string"
    assert schemas["Everything"]["properties"]["env_mode"]["enum"] == ["test", "live"]


def test_the_docs_page_needs_nothing_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/docs")
    text = page.get_data(as_text=True)
    assert page.status_code == 200
    assert "http://" not in text
    assert "https://" not in text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    for path in ("/docs/assets/swagger-ui-bundle.js", "/docs/assets/swagger-ui.css", "/static/docs/start.js"):
        assert path in text
        response = client.get(path)
        assert response.status_code == 200
        response.close()
    assert client.get("/docs/assets/../../__init__.py").status_code == 404

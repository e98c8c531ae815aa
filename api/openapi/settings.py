"""What the document says of the service as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine import __version__

ABOUT = """Payment links, payment orders, cross-chain routes, quotes and webhooks.

Amounts are in the smallest unit of their token: strings of digits in answers, integers or strings of digits in
requests. Moments are ISO 8601 in UTC. Every answer has an `X-Request-Id`; every error has the same body. Later versions
of v1 may add properties to answers and types of events, so ignore those that you do not know.
"""
KEY = (
    "The key of your organization for one environment: `sk_test_…` or `sk_live_…`. It is a secret: keep it on your "
    "server. Routes, quotes and tokens work without one at a lower rate limit, also from scripts of other sites (CORS)."
)
SETTINGS: Mapping[str, Any] = {
    "API_TITLE": "Checkout Payments Service",
    "API_VERSION": __version__,
    "OPENAPI_VERSION": "3.1.0",
    "OPENAPI_URL_PREFIX": "/",
    "OPENAPI_JSON_PATH": "openapi.json",
    "API_SPEC_OPTIONS": {
        "info": {"description": ABOUT, "license": {"name": "MIT", "identifier": "MIT"}},
        "components": {
            "securitySchemes": {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": KEY}},
        },
    },
}

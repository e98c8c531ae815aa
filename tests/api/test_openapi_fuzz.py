"""Requests drawn from the OpenAPI document itself: none fails, and every answer is as the document shows it.

Schemathesis is loaded by the test: it takes longer than most tests, and no other one needs it.
"""

from __future__ import annotations

import pytest
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

OPERATIONS = [("POST", "/v1/routes"), ("GET", "/api/v1/quote"), ("GET", "/v1/tokens"), ("POST", "/v1/routes/stream")]


@pytest.mark.rule("errors.1")
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_no_drawn_request_fails(app: Flask, method: str, path: str, mode: str) -> None:
    import schemathesis
    from schemathesis.specs.openapi import checks

    shape = [
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
    ]
    if not path.endswith("/stream"):  # events are no JSON
        shape.append(checks.response_schema_conformance)
    operation = schemathesis.openapi.from_wsgi("/openapi.json", app)[path][method]
    statuses: set[int] = set()

    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    def check(case: schemathesis.Case) -> None:
        response = case.call()
        statuses.add(response.status_code)
        case.validate_response(response, checks=shape)

    check()
    assert statuses & ({400, 415} if mode == "negative" else {200, 400})

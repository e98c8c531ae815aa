"""Requests drawn from the OpenAPI document itself: none fails, and every answer is as the document shows it."""

from __future__ import annotations

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi import checks

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

OPERATIONS = [("POST", "/v1/routes"), ("GET", "/api/v1/quote"), ("GET", "/v1/tokens"), ("POST", "/v1/routes/stream")]
SHAPE = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
]


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_drawn_request_fails(app: Flask, method: str, path: str, mode: GenerationMode) -> None:
    shape = SHAPE if path.endswith("/stream") else [*SHAPE, checks.response_schema_conformance]  # events are no JSON
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
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Case) -> None:
        response = case.call()
        statuses.add(response.status_code)
        case.validate_response(response, checks=shape)

    check()
    assert statuses & ({400, 415} if mode is GenerationMode.NEGATIVE else {200, 400})

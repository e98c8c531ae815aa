"""Holds the service's answers to its OpenAPI document."""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from functools import cache
from typing import Any

import brotli
from flask import Flask
from jsonschema_rs import Draft202012Validator
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse
from werkzeug.wrappers import Response

from api.openapi.headers import EVERYWHERE

BASE_URL = "https://pay.example"
UNCOUNTED = {"400", "404", "500", "503"}
"""May come from before where requests are counted."""
PROBE = "/v1/probe/"
"""What exists in tests only promises nothing."""
INVENTED = {"EventData"}
"""Tests make events up, with data of their own."""


def read_document(app: Flask) -> dict[str, Any]:
    """Return an application's OpenAPI document."""
    document: dict[str, Any] = app.extensions["flask-smorest"]["apis"][""]["ext_obj"].build_document(BASE_URL)
    return document


class Contract:
    """What a document promises of answers.

    A property that it does not name counts as a fault, though clients are told to expect more.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        schemas = document["components"]["schemas"]
        closed = {name: {"type": "object"} if name in INVENTED else _close(each) for name, each in schemas.items()}
        self._components = {"schemas": closed}
        self._validators: dict[str, Draft202012Validator] = {}

    def check(self, path: str, method: str, answer: Response) -> None:
        """Raise AssertionError unless `answer` is one that the document shows for an operation."""
        operation = self.document["paths"].get(path, {}).get(method.lower())
        if operation is None:
            return
        name, status = operation["operationId"], str(answer.status_code)
        if method == "GET" and status in {"413", "415"}:
            return  # of a body, which only a test sends with GET
        assert status in operation["responses"], f"{name}: the document shows no answer {status}"
        shown = self._resolve(operation["responses"][status])
        expected = {EVERYWHERE[0]} if status in UNCOUNTED else {*EVERYWHERE}
        missing = {
            header for header in expected if header not in answer.headers
        }  # whatever their case: over HTTP lower
        assert not missing, f"{name}: {status} without {missing}"
        content = shown.get("content", {})
        assert not content or answer.mimetype in content, f"{name}: {status} is {answer.mimetype}"
        if answer.mimetype == "application/json":
            self.check_value(content["application/json"]["schema"], _read(answer), f"{name}: {status}")

    def check_value(self, schema: dict[str, Any], value: object, what: str) -> None:
        """Raise AssertionError unless `value` is one that `schema` allows."""
        key = repr(schema)
        if key not in self._validators:
            self._validators[key] = Draft202012Validator({**schema, "components": self._components})
        faults = [f"{list(error.instance_path)}: {error.message}" for error in self._validators[key].iter_errors(value)]
        assert not faults, f"{what}: {faults[:3]}"

    def _resolve(self, response: dict[str, Any]) -> dict[str, Any]:
        name = response.get("$ref", "").rpartition("/")[2]
        return self.document["components"]["responses"][name] if name else response


def hold_to_contract(app: Flask, answer: TestResponse) -> None:
    """Hold an answer of `app` to what its document says of the address; other addresses may answer anything."""
    asked = answer.request
    if asked.path.startswith(PROBE) or "flask-smorest" not in app.extensions:  # what is not the service has none
        return
    try:
        rule, _ = app.url_map.bind("localhost").match(asked.path, asked.method, return_rule=True)
    except HTTPException:
        return
    _read_contract(app).check(rule.rule.replace("<", "{").replace(">", "}"), asked.method, answer)


def _read_contract(app: Flask) -> Contract:
    rules = frozenset(rule.rule for rule in app.url_map.iter_rules())
    if rules not in _contracts():
        _contracts()[rules] = Contract(deepcopy(read_document(app)))
    return _contracts()[rules]


@cache
def _contracts() -> dict[frozenset[str], Contract]:
    """Return the contracts that were read so far: applications with the same addresses share one."""
    return {}


def _close(schema: Any) -> Any:
    """Forbid properties that an object's schema does not name."""
    if isinstance(schema, list):
        return [_close(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _close(inner) for name, inner in schema.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


def _read(answer: TestResponse) -> object:
    """Return the JSON of an answer, which may be compressed."""
    if answer.content_encoding is None:
        return answer.get_json()
    return json.loads({"gzip": gzip.decompress, "br": brotli.decompress}[answer.content_encoding](answer.data))

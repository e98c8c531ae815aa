"""The document as it is served: the views' own descriptions, completed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from marshmallow import Schema

from api.bodies.event_stream import CONTENT_TYPE
from api.openapi.converters import describe_enum, list_words, read_summary
from api.openapi.events import describe_webhooks
from api.openapi.examples import EVENT, load_example
from api.openapi.headers import HEADERS, IF_NONE_MATCH, refer_to_headers
from api.openapi.parameters import describe_path_parameter
from api.openapi.refusals import REFUSALS, build_example, describe_refusals, list_statuses, refer_to_refusal

METHODS = ("get", "post", "put", "patch", "delete")
JSON = "application/json"
LAST_EVENT = 'data: {"type":"done","best":"rt_01kx3v8m2qk8w4m9n5t7b2c6d1f0g3h8j4","unavailable":[]}\n\n'


def complete(document: dict[str, Any], schemas: Mapping[str, type[Schema]], base_url: str) -> dict[str, Any]:
    """Return `document` with what holds for every operation, with examples, webhooks and the address.

    Parameters
    ----------
    document : dict
        What apispec made of views and schemas; it is changed.
    schemas : mapping
        The schemas of its components, by name.
    base_url : str
        Where the service is reached.
    """
    components = document["components"]
    for name, schema in schemas.items():
        components["schemas"][name].setdefault("description", read_summary(schema))
    for name, words in sorted(list_words(list(schemas.values())).items()):
        components["schemas"][name] = describe_enum(words)
    components["headers"] = dict(HEADERS)
    components["responses"] = describe_refusals()
    for path, method, operation in list_operations(document):
        operation["parameters"] = [*document["paths"][path].get("parameters", ()), *operation.get("parameters", ())]
        _complete_operation(method, operation, components["schemas"])
    for item in document["paths"].values():
        item.pop("parameters", None)
    example = load_example(EVENT)
    return {
        **document,
        "servers": [{"url": base_url}],
        "webhooks": describe_webhooks(example) if example else {},
    }


def list_operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of each operation."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def _complete_operation(method: str, operation: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            describe_path_parameter(parameter)
    responses = operation.setdefault("responses", {})
    has_tag = "304" in responses
    if has_tag:
        operation["parameters"].append(IF_NONE_MATCH)
    for status, response in responses.items():
        if "$ref" not in response:
            _complete_response(status, response, operation["operationId"], has_tag=has_tag)
    for status in list_statuses(method, operation, schemas):
        if "$ref" in responses.setdefault(status, {"$ref": ""}):
            responses[status] = refer_to_refusal(status)
    operation["responses"] = dict(sorted(responses.items()))


def _complete_response(status: str, response: dict[str, Any], operation_id: str, *, has_tag: bool) -> None:
    is_success = status < "400"
    response["headers"] = refer_to_headers(status, ["ETag"] if has_tag and is_success else [])
    if (stream := response.get("content", {}).get(CONTENT_TYPE)) is not None:
        stream.update(_describe_stream(stream["schema"]["$ref"].rpartition("/")[2]))
    body = response.get("content", {}).get(JSON)
    if body is None or "example" in body:
        return
    example = load_example(operation_id) if is_success else build_example(status) if status in REFUSALS else None
    if example is not None:
        body["example"] = example


def _describe_stream(message: str) -> dict[str, Any]:
    """Describe server-sent events: to OpenAPI 3.1 they are text, whatever their data is."""
    text = f"Server-sent events. The data of each is the JSON of a `{message}`."
    return {"schema": {"type": "string", "description": text}, "example": LAST_EVENT}

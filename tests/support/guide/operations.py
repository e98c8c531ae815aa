"""The page of all operations, written from the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from api.openapi.document import JSON, list_operations
from tests.support.guide.regions import write_table

SHOWN = 60
"""Lines of an example; what is longer is in the document that the service serves."""
FIRST = ("payment_links", "payments", "exports", "unmatched_transfers", "webhooks", "events", "branding")
WORDS: Mapping[str, str] = {"integer": "integer", "string": "text", "boolean": "true or false", "number": "number"}


def write_overview(document: Mapping[str, Any]) -> str:
    """Return a table of all operations."""
    rows = [
        (f"[`{method.upper()} {path}`](#{operation['operationId']})", operation["summary"], _name_key(operation))
        for _, operations in _list_by_tag(document)
        for path, method, operation in operations
    ]
    return write_table(("operation", "what it does", "a key's scope"), rows)


def write_operations(document: Mapping[str, Any]) -> str:
    """Return every operation with its parameters, its body, an example, and what it answers."""
    parts = []
    for title, operations in _list_by_tag(document):
        parts.append(f"## {title}")
        parts.extend("\n\n".join(_write_operation(*each)) for each in operations)
    return "\n\n".join(parts)


def write_objects(document: Mapping[str, Any]) -> str:
    """Return every object of the answers, and every set of words."""
    parts = []
    for name, schema in sorted(document["components"]["schemas"].items()):
        text = [f"### {name}", schema.get("description", "")]
        if "enum" in schema:
            text.append(", ".join(f"`{word}`" if word else "empty" for word in schema["enum"]) + ".")
        else:
            text.append(_write_properties(schema))
        parts.append("\n\n".join(each for each in text if each))
    return "\n\n".join(parts)


def _list_by_tag(document: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str, dict[str, Any]]]]]:
    """Yield each group of operations: what merchants need first, and then the rest as the document has it."""
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    for name in dict.fromkeys((*FIRST, *tags)):
        yield tags[name], [each for each in list_operations(document) if name in each[2]["tags"]]


def _write_operation(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"### `{method.upper()} {path}` {{ #{operation['operationId']} }}"
    yield f"{operation['summary']} Scope: {_name_key(operation)}."
    if operation.get("description"):
        yield operation["description"]
    if operation["parameters"]:
        rows = [_describe_parameter(each) for each in operation["parameters"]]
        yield write_table(("parameter", "in", "", "meaning"), rows)
    body = operation.get("requestBody", {}).get("content", {}).get(JSON)
    if body:
        yield f"Body: {_link(body['schema'])}"
        if "example" in body:
            yield _write_json(body["example"])
    yield "Answer: " + "; ".join(_list_answers(operation))
    answer = operation["responses"]["200"].get("content", {}).get(JSON, {})
    if "example" in answer:
        yield '??? example "Example of an answer"\n' + _indent(_write_json(answer["example"]))


def _name_key(operation: Mapping[str, Any]) -> str:
    if {} in operation.get("security", [{}]):
        return "any key or none"
    scopes = [scope for each in operation["security"] for scope in each["ApiKey"]]
    return f"`{scopes[0]}`" if scopes else "any key"


def _describe_parameter(parameter: Mapping[str, Any]) -> tuple[str, ...]:
    schema = parameter.get("schema", {})
    need = "required" if parameter.get("required") else ""
    return f"`{parameter['name']}`", parameter["in"], need, _describe(parameter.get("description", ""), schema)


def _list_answers(operation: Mapping[str, Any]) -> Iterator[str]:
    for status, response in operation["responses"].items():
        if status >= "400":
            continue
        content = response.get("content", {})
        kinds = [_link(each["schema"]) if kind == JSON else f"`{kind}`" for kind, each in content.items()]
        yield f"`{status}` {' or '.join(kinds)}".strip()
    errors = [status for status in operation["responses"] if status >= "400"]
    yield f"[errors](errors.md) {', '.join(errors)}"


def _write_properties(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        (
            f"`{name}`",
            _name_type(each),
            "required" if name in required else "",
            _describe(each.get("description", ""), each),
        )
        for name, each in schema.get("properties", {}).items()
    ]
    return write_table(("property", "type", "", "meaning"), rows) if rows else ""


def _describe(description: str, schema: Mapping[str, Any]) -> str:
    bounds = []
    if "default" in schema and schema["default"] is not None and "efault" not in description:
        bounds.append(f"default {json.dumps(schema['default'])}")
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        if high in schema:
            bounds.append(f"{schema.get(low, 0)} to {schema[high]:,}{unit}")
    return "; ".join(each for each in (description, *bounds) if each)


def _name_type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _link(schema)
    options = [each for word in ("anyOf", "oneOf", "allOf") for each in schema.get(word, ())]
    if options:
        return " or ".join(dict.fromkeys(_name_type(each) for each in options))
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        return " or ".join(_name_type({**schema, "type": each}) for each in kinds)
    if kinds == "array":
        return f"list of {_name_type(schema.get('items', {}))}"
    if schema.get("format") == "date-time":
        return "moment"
    return WORDS.get(kinds, kinds)


def _link(schema: Mapping[str, Any]) -> str:
    name = schema.get("$ref", "").rpartition("/")[2]
    return f"[{name}](#{name.lower()})" if name else _name_type(schema)


def _write_json(example: object) -> str:
    lines = json.dumps(example, indent=2, ensure_ascii=False).split("\n")
    if len(lines) > SHOWN:
        lines = [*lines[:SHOWN], "  …"]
    return "\n".join(("```json", *lines, "```"))


def _indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))

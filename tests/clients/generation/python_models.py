"""Python types of the OpenAPI document: dataclasses for answers, typed dicts for bodies, literals for words."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

Json = dict[str, Any]
AMOUNT = "^[0-9]{1,78}$"
"""How the document writes an amount; whatever has this pattern is an `int` in the client."""
WIDTH = 120
HEADER = '''"""Types of the service's bodies, made from its OpenAPI document by `make clients`: change nothing here.

Answers are dataclasses, bodies of requests are typed dicts. Amounts are `int` in the smallest unit of their token.
Words of a fixed set are literals; a later version of the service may send others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def write_models(document: Json) -> str:
    """Return the module: words first, then bodies, then answers, each by name."""
    schemas: Mapping[str, Json] = document["components"]["schemas"]
    parts = [*map(write_words, *split_pairs(schemas, is_words)), *map(write_body, *split_pairs(schemas, is_body))]
    parts += map(write_answer, *split_pairs(schemas, lambda one: not is_words(one) and not is_body(one)))
    return HEADER + "\n\n".join(parts)


def split_pairs(schemas: Mapping[str, Json], kind: Any) -> tuple[list[str], list[Json]]:
    """Return names and schemas of one kind, by name."""
    found = [(name, schema) for name, schema in sorted(schemas.items()) if kind(schema)]
    return [name for name, _ in found], [schema for _, schema in found]


def is_words(schema: Json) -> bool:
    """Tell whether a schema is a set of words."""
    return "enum" in schema


def is_body(schema: Json) -> bool:
    """Tell whether a schema is of a request: those are closed."""
    return schema.get("additionalProperties") is False


def write_words(name: str, schema: Json) -> str:
    """Return a literal type."""
    words = ", ".join(f'"{word}"' for word in schema["enum"])
    line = f"{name} = Literal[{words}]"
    if len(line) > WIDTH:
        lines = "".join(f'    "{word}",\n' for word in schema["enum"])
        line = f"{name} = Literal[\n{lines}]"
    return f'{line}\n"""{read_text(schema)}"""\n'


def write_body(name: str, schema: Json) -> str:
    """Return a typed dict."""
    lines = [f"class {name}(TypedDict):", *write_docstring(schema), ""]
    for json_name, field in schema["properties"].items():
        hint = name_type(field)
        needed = hint if json_name in schema.get("required", ()) else f"NotRequired[{hint}]"
        lines += [f"    {name_field(json_name)}: {needed}", *write_docstring(field)]
    return "\n".join(lines) + "\n"


def write_answer(name: str, schema: Json) -> str:
    """Return a dataclass; what may be missing is None then."""
    lines = ["@dataclass(frozen=True, slots=True, kw_only=True)", f"class {name}:", *write_docstring(schema), ""]
    for json_name, field in schema["properties"].items():
        hint = name_type(field)
        if json_name not in schema.get("required", ()):
            hint = f"{hint.removesuffix(' | None')} | None = None"
        # A secret that is printed or logged by accident is one no more.
        hidden = " = field(repr=False)" if json_name == "secret" else ""
        lines += [f"    {name_field(json_name)}: {hint}{hidden}", *write_docstring(field)]
    return "\n".join(lines) + "\n"


def name_type(schema: Json) -> str:
    """Return the annotation of one property."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    choices = [each for key in ("oneOf", "anyOf") for each in schema.get(key, ())]
    if choices:
        found = dict.fromkeys(name_type(each) for each in choices)
        # An integer or its digits: in Python both are the integer.
        digits = [each for each in choices if each.get("type") == "string" and "[0-9]" in each.get("pattern", "")]
        return "int" if digits and "int" in found else " | ".join(found)
    types = schema.get("type", "object")
    if isinstance(types, list):
        return f"{name_type(schema | {'type': types[0]})} | None"
    return _name_single(types, schema)


def _name_single(kind: str, schema: Json) -> str:
    if kind == "null":
        return "None"
    if kind == "array":
        return f"list[{name_type(schema['items'])}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {name_type(values) if isinstance(values, dict) and values else 'Any'}]"
    if "enum" in schema:
        return "Literal[" + ", ".join(f'"{word}"' for word in schema["enum"]) + "]"
    if schema.get("pattern") == AMOUNT:
        return "int"
    return "datetime" if schema.get("format") == "date-time" else SIMPLE[kind]


def name_field(json_name: str) -> str:
    """Return a property's name in Python, as the client's own `to_snake` does."""
    snake = re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", json_name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) else snake


def write_docstring(schema: Json) -> Iterator[str]:
    """Yield the lines of a docstring, indented; none where there is nothing to say."""
    text = read_text(schema)
    if not text:
        return
    if len(text) + 10 <= WIDTH:
        yield f'    """{text}"""'
        return
    first, rest = split_sentence(text)
    summary, *more = wrap(first, WIDTH - 8)
    # A first sentence that is too long for a line goes on in the next.
    yield f'    """{summary}'
    yield from (f"    {line}" for line in more)
    if rest:
        yield ""
        yield from (f"    {line}" for line in wrap(rest, WIDTH - 5))
    yield '    """'


def split_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence and what follows."""
    found = re.match(r"(.+?[.:;])\s+(?=[A-Z`])(.*)", text)
    return (found[1], found[2]) if found else (text, "")


def read_text(schema: Json) -> str:
    """Return a description as one line that ends with a full stop."""
    text = " ".join(schema.get("description", "").split()).replace("\\", "\\\\")
    return text if not text or text[-1] in ".!?" else f"{text}."

"""Which errors an operation may answer with, as far as that follows from its form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from api.bodies.errors import MESSAGES
from api.openapi.headers import refer_to_headers

ERROR = {"$ref": "#/components/schemas/Error"}
IDEMPOTENCY = "Idempotency-Key"
ENVIRONMENT = "env_mode"
REFUSALS: Mapping[str, tuple[str, str, str, tuple[str, str] | None]] = {
    "400": ("BadRequest", "Something about the request is wrong; each offending property has an entry", MESSAGES[400],
            ("order_price.amount", "Required")),
    "401": ("Unauthorized", "The API key is missing or not valid", "The API key is not valid",
            ("X-Api-Key", "Unknown or revoked key")),
    "403": ("Forbidden", "The key does not allow it", "The API key belongs to the other environment",
            (ENVIRONMENT, "Use a key of that environment")),
    "404": ("NotFound", "There is nothing with this id that the key may see", "There is no such payment order", None),
    "409": ("Conflict", f"A request with this `{IDEMPOTENCY}` is still being carried out",
            "A request with this idempotency key is still being carried out",
            (IDEMPOTENCY, "Send the request again in a moment")),
    "410": ("Gone", "It was there, and its time is over",
            "This quote was made more than 24 hours ago; ask for a new one", None),
    "413": ("TooLarge", "The body is larger than 64 kB", MESSAGES[413], None),
    "415": ("NotJson", "The body is not said to be JSON",
            "The body must be JSON, sent with Content-Type: application/json", None),
    "422": ("Unprocessable", f"This `{IDEMPOTENCY}` was used with another body",
            "This idempotency key was used with another body", (IDEMPOTENCY, "Use a new key for a new request")),
    "429": ("TooManyRequests", "Too many requests; wait as long as `Retry-After` says", MESSAGES[429], None),
    "500": ("InternalError", "Something went wrong on our side", MESSAGES[500], None),
    "503": ("Unavailable", "Something that the service needs does not answer; try again after `Retry-After`",
            "The database does not answer at the moment; send the request again", None),
}  # fmt: skip
"""By status: name, description, and of its example the message and the one problem."""


def describe_refusals() -> dict[str, Any]:
    """Return the errors as components of the document."""
    return {
        name: {
            "description": description,
            "headers": refer_to_headers(status),
            "content": {"application/json": {"schema": ERROR, "example": build_example(status)}},
        }
        for status, (name, description, _, _) in REFUSALS.items()
    }


def refer_to_refusal(status: str) -> dict[str, str]:
    """Return a reference to the error of a status."""
    return {"$ref": f"#/components/responses/{REFUSALS[status][0]}"}


def build_example(status: str) -> dict[str, Any]:
    """Build an error body of this status."""
    _, _, message, problem = REFUSALS[status]
    rows = [] if problem is None else [dict(zip(("path", "message"), problem, strict=True))]
    return {"message": message, "code": status, "error": rows}


def list_statuses(method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    """Yield the statuses of the errors that an operation may answer with by its form."""
    parameters = operation.get("parameters", ())
    names = {parameter["name"] for parameter in parameters} | _list_properties(operation, schemas)
    yield from ("400", "401")
    security = operation.get("security", [{}])
    if any(scopes for each in security for scopes in each.values()) or (ENVIRONMENT in names and {} not in security):
        yield "403"
    if any(parameter["in"] == "path" for parameter in parameters):
        yield "404"
    if method != "get":
        yield from ("413", "415")
    if IDEMPOTENCY in names:
        yield from ("409", "422")
    yield from ("429", "500", "503")


def _list_properties(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> set[str]:
    content = operation.get("requestBody", {}).get("content", {})
    names = [media["schema"].get("$ref", "").rpartition("/")[2] for media in content.values()]
    return {property for name in names for property in schemas.get(name, {}).get("properties", ())}

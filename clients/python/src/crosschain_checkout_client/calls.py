"""One call of an operation: how it is asked, and how its answer is read. Nothing here does input or output."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from crosschain_checkout_client.errors import ConnectionFailed, NotFound, RequestFailed, UnexpectedAnswer, choose_error
from crosschain_checkout_client.models import Error
from crosschain_checkout_client.retries import read_retry_after
from crosschain_checkout_client.wire import NotAsDescribed, read_value, write_value

T = TypeVar("T")
Query = Mapping[str, object]
TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """What is asked.

    Parameters
    ----------
    method, path : str
        The operation, its ids filled in.
    kind : type
        What its answer is read as.
    query : mapping
        What is None is left out.
    body : mapping or None
        As the interface names its properties.
    idempotency_key : str or None
        For a POST; a new one by default, which stays the same over its retries.
    not_found : type
        What a 404 means.
    accept : str
        Content type of its answer.
    """

    method: str
    path: str
    kind: type[T]
    query: Query = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    idempotency_key: str | None = None
    not_found: type[NotFound] = NotFound
    accept: str = "application/json"

    def build_request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Return the request; every attempt sends this one."""
        query: dict[str, Any] = {name: write_value(each) for name, each in self.query.items() if each is not None}
        headers = {"Accept": self.accept}
        if self.method == "POST":
            headers["Idempotency-Key"] = self.idempotency_key or str(uuid.uuid4())
        body = write_value(self.body) if self.body is not None else None
        return http.build_request(self.method, self.path, params=query, json=body, headers=headers)

    def read_outcome(self, request: httpx.Request, outcome: httpx.Response | httpx.RequestError) -> T:
        """Return the answer.

        Raises
        ------
        RequestFailed
            If there is none, or it is an error.
        """
        response = self.check_outcome(request, outcome)
        answer: T = _read_body(self.kind, response)
        return answer

    def check_outcome(self, request: httpx.Request, outcome: httpx.Response | httpx.RequestError) -> httpx.Response:
        """Return the response, of which only an error's body has been read.

        Raises
        ------
        RequestFailed
            If there is none, or it is an error.
        """
        key = request.headers.get("Idempotency-Key")
        if isinstance(outcome, httpx.RequestError):
            said = str(outcome) or type(outcome).__name__
            raise ConnectionFailed(
                f"{request.url.netloc.decode()} does not answer: {said}", idempotency_key=key
            ) from outcome
        if outcome.is_success:
            return outcome
        raise self._make_refusal(outcome, _read_body(Error, outcome), key)

    def _make_refusal(self, response: httpx.Response, error: Error, key: str | None) -> RequestFailed:
        kind = self.not_found if response.status_code == 404 else choose_error(response.status_code)
        return kind(
            error.message,
            status=response.status_code,
            problems=tuple(error.error),
            request_id=response.headers.get("X-Request-Id"),
            retry_after_s=read_retry_after(response),
            idempotency_key=key,
        )


def _read_body(kind: Any, response: httpx.Response) -> Any:
    try:
        return read_value(kind, response.json())
    except ValueError as reason:
        said = str(reason) if isinstance(reason, NotAsDescribed) else "it is no JSON"
        raise UnexpectedAnswer(
            f"The answer {response.status_code} can't be read: {said}",
            status=response.status_code,
            request_id=response.headers.get("X-Request-Id"),
            idempotency_key=response.request.headers.get("Idempotency-Key"),
        ) from reason


def name_options(base_url: str, api_key: str | None, timeout_s: float) -> dict[str, Any]:
    """Return the options of an `httpx` client for a service.

    Redirects are not followed: the key would travel to wherever they lead.

    Raises
    ------
    ValueError
        If the address is none, or the key is empty, as of a setting that is missing.
    """
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{base_url!r} is no address of a service, such as https://pay.example")
    if api_key is not None and not api_key.strip():
        raise ValueError("The API key is empty: is the setting there? Leave it out where no key is needed")
    headers = {"User-Agent": "crosschain-checkout-client"}
    if api_key:
        headers["X-Api-Key"] = api_key
    return {"base_url": base_url, "headers": headers, "timeout": timeout_s, "follow_redirects": False}


def check_id(given: str) -> str:
    """Return an id that may stand in a path.

    Raises
    ------
    ValueError
        If it is none: anything else would lead to another address.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,255}", given):
        raise ValueError(f"{given!r:.100} is no id")
    return given

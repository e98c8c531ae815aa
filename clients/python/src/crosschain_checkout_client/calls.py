"""One call of an operation: how it is asked, and how its answer is read. Nothing here does input or output."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx

from crosschain_checkout_client.checks import check_address, check_api_key, check_idempotency_key
from crosschain_checkout_client.errors import ConnectionFailed, NotFound, RequestFailed, UnexpectedAnswer, choose_error
from crosschain_checkout_client.models import Error
from crosschain_checkout_client.retries import read_retry_after
from crosschain_checkout_client.wire import NotAsDescribed, read_value, write_value

T = TypeVar("T")
Query = Mapping[str, object]
TIMEOUT_S = 30.0


class NotGiven:
    """Stands where no API key was given, unlike a setting that is missing, which is None."""


NOT_GIVEN = NotGiven()


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
        """Return the request; every attempt sends this one.

        Raises
        ------
        ValueError
            If something that was given can't be sent; it names what.
        """
        query: dict[str, Any] = {name: write_value(each, name) for name, each in self.query.items() if each is not None}
        headers = {"Accept": self.accept}
        if self.method == "POST":
            own = self.idempotency_key
            headers["Idempotency-Key"] = str(uuid.uuid4()) if own is None else check_idempotency_key(own)
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


def name_options(base_url: str, api_key: str | NotGiven, timeout_s: float) -> dict[str, Any]:
    """Return the options of an `httpx` client for a service.

    Redirects are not followed: the key would travel to wherever they lead.

    Raises
    ------
    ValueError
        If the address is none, or the key is none, as of a setting that is missing, or would travel unencrypted.
    """
    headers = {"User-Agent": "crosschain-checkout-client"}
    address = check_address(base_url)
    if not isinstance(api_key, NotGiven):
        headers["X-Api-Key"] = check_api_key(api_key, address)
    return {"base_url": address, "headers": headers, "timeout": timeout_s, "follow_redirects": False}

"""What commands share that ask a running service over HTTP, as a merchant's application does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from requests import Response

URL, KEY = "CHECKOUT_URL", "CHECKOUT_API_KEY"
TIMEOUT_S = (5.0, 60.0)
"""For a connection, and for an answer."""
F = TypeVar("F", bound=Callable[..., Any])


class ServiceAway(click.ClickException):
    """The service did not answer, or said that it can't now; the same request may succeed later.

    Parameters
    ----------
    retry_after_s : int or None
        When, if it said so.
    """

    def __init__(self, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ServiceRefused(click.ClickException):
    """The service refused the request.

    Parameters
    ----------
    said : str
        What it said of the whole.
    problems : sequence of (str, str)
        Properties of the API, and what is wrong with each.
    """

    def __init__(self, said: str, problems: Sequence[tuple[str, str]]) -> None:
        self.said, self.problems = said, tuple(problems)
        detail = "; ".join(f"{path}: {message}" for path, message in self.problems)
        super().__init__(f"{said}{f' ({detail})' if detail else ''}")

    def rename(self, options: Mapping[str, str]) -> ServiceRefused:
        """Return the same with the options of a command instead of the properties that they give."""
        return ServiceRefused(self.said, [(_find_option(path, options), message) for path, message in self.problems])


class ServiceClient:
    """Asks the API with a key.

    Parameters
    ----------
    url : str
        Address of the service.
    key : str or None
        API key of a vendor.

    Raises
    ------
    click.ClickException
        If one of them can't be, or a live key would travel unencrypted.
    """

    def __init__(self, url: str, key: str | None) -> None:
        import requests

        self.url, self.key = url.rstrip("/"), (key or "").strip()
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise click.ClickException(f"{_name_url()}: Expected an address such as https://pay.example, not {url!r}")
        if not self.key.startswith(("sk_test_", "sk_live_")) or not self.key.isascii():
            raise click.ClickException(
                f"Set {KEY} to an API key such as sk_test_…; the operator makes one with `checkout keys create`"
            )
        if self.env_mode == "live" and parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise click.ClickException(
                f"{_name_url()}: A live key is sent over https only; use the service's https address"
            )
        self._session = requests.Session()

    @property
    def env_mode(self) -> str:
        """The environment of the key."""
        return "live" if self.key.startswith("sk_live_") else "test"

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Read; parameters that are None are left out."""
        return self._read(self._send("GET", path, params={name: each for name, each in query.items() if each}))

    def get_dated(self, path: str, **query: Any) -> tuple[dict[str, Any], str]:
        """Read, and return the service's own time too, as HTTP writes it."""
        answer = self._send("GET", path, params=query)
        return self._read(answer), answer.headers.get("Date", "")

    def post(self, path: str, body: Mapping[str, Any], **headers: str) -> dict[str, Any]:
        """Let something be done."""
        return self._read(self._send("POST", path, json=dict(body), headers=headers))

    def _send(self, method: str, path: str, headers: Mapping[str, str] | None = None, **content: Any) -> Response:
        import requests

        try:
            # Redirected, the key would be sent to wherever the answer says.
            return self._session.request(
                method,
                f"{self.url}{path}",
                headers={"X-Api-Key": self.key, **(headers or {})},
                timeout=TIMEOUT_S,
                allow_redirects=False,
                **content,
            )
        except requests.exceptions.SSLError as error:
            raise click.ClickException(
                f"{self.url} has a certificate that this machine does not trust; where its authority is your own, set "
                "REQUESTS_CA_BUNDLE to the file with its certificate"
            ) from error
        except requests.RequestException as error:
            raise ServiceAway(
                f"{self.url} does not answer ({type(error).__name__}): is `checkout up` or `checkout serve` running "
                f"there? Another address goes into --url or {URL}"
            ) from error

    def _read(self, answer: Response) -> dict[str, Any]:
        try:
            body = answer.json()
        except ValueError:
            body = None
        if answer.status_code == 200 and isinstance(body, dict):
            return body
        if answer.is_redirect:
            raise click.ClickException(f"{self.url} redirects; give the address that it redirects to by --url")
        if not isinstance(body, dict) or "message" not in body:
            raise click.ClickException(f"{self.url} answers {answer.status_code}, and not as a checkout service does")
        rows = [row for row in body.get("error", ()) if isinstance(row, dict)]
        refused = ServiceRefused(body["message"], [(str(row.get("path")), str(row.get("message"))) for row in rows])
        if answer.status_code in {429, 503}:
            wait = answer.headers.get("Retry-After", "")
            wait_s = int(wait) if wait.isdecimal() else None
            when = "" if wait_s is None else f"; try again in {wait_s} s"
            raise ServiceAway(f"{refused.message}{when}", wait_s)
        raise refused


def service_options(command: F) -> F:
    """Add --url and --key to a command, which gets a `ServiceClient` of them by `ServiceClient(url, key)`."""
    key = click.option("--key", envvar=KEY, help=f"API key; better in {KEY}, since others may see a command line.")
    url = click.option(
        "--url", envvar=URL, default="http://127.0.0.1:8000", show_default=True, help=f"The service, also in {URL}."
    )
    return url(key(command))


def load_body(file: Any) -> dict[str, Any]:
    """Read a JSON object from an open file.

    Raises
    ------
    click.ClickException
        If it holds none.
    """
    try:
        body = json.load(file)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"--file: Expected JSON: {error}") from error
    if not isinstance(body, dict):
        raise click.ClickException("--file: Expected a JSON object")
    return body


def _name_url() -> str:
    """Return what the service's address was given by: the option of the running command, or the variable."""
    context = click.get_current_context()
    return URL if context.get_parameter_source("url") == ParameterSource.ENVIRONMENT else "--url"


def _find_option(path: str, options: Mapping[str, str]) -> str:
    """Return the option for a property, or for what it is part of; the property itself where there is none."""
    parts = path.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((options[name] for name in names if name in options), path)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

"""What can go wrong, as exceptions: all are `CheckoutError`."""

from __future__ import annotations

from crosschain_checkout_client.models import Problem


class CheckoutError(Exception):
    """Anything that this package raises on purpose, but for `ValueError` where it is called wrongly."""


class WebhookRefused(CheckoutError):
    """A delivery is not from the service, too old, or damaged: answer it with 400 and do nothing else."""


class WebhookUnreadable(CheckoutError):
    """A delivery is from the service, but of a kind that this version does not know: answer 200 and update it."""


class RequestFailed(CheckoutError):
    """A request that did not succeed.

    Parameters
    ----------
    message : str
        What went wrong.
    idempotency_key : str or None
        Of a POST. Whoever can't know whether it was carried out sends the same request with the same key again.
    """

    def __init__(self, message: str, *, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.idempotency_key = idempotency_key


class ConnectionFailed(RequestFailed):
    """No answer came, after all retries. A POST may have been carried out all the same."""


class UnexpectedAnswer(RequestFailed):
    """An answer that this client can't read, such as a proxy's page. A POST may have been carried out all the same.

    Parameters
    ----------
    status : int
        HTTP status.
    request_id : str or None
        The service's name for the request, for its operator.
    """

    def __init__(self, message: str, *, status: int, request_id: str | None, idempotency_key: str | None) -> None:
        super().__init__(message, idempotency_key=idempotency_key)
        self.status = status
        self.request_id = request_id


class Refused(RequestFailed):
    """The service refused the request; `str` of it names every problem.

    Parameters
    ----------
    message : str
        What went wrong.
    status : int
        HTTP status.
    problems : tuple of Problem
        What is wrong with which property; may be empty.
    request_id : str or None
        The service's name for the request, for its operator.
    retry_after_s : float or None
        In how many seconds it may be sent again, if the service said so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        problems: tuple[Problem, ...] = (),
        request_id: str | None = None,
        retry_after_s: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message, idempotency_key=idempotency_key)
        self.status = status
        self.problems = problems
        self.request_id = request_id
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        """Say status, message, problems and request."""
        named = "".join(
            f"; {each.path}: {each.message}" if each.path else f"; {each.message}" for each in self.problems
        )
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status}: {self.message}{named}{request}"


class InvalidRequest(Refused):
    """400: `problems` names what is wrong with which property."""


class Unauthorized(Refused):
    """401: the key is missing, wrong, revoked or over."""


class Forbidden(Refused):
    """403: the key is of the other environment, or lacks a scope."""


class NotFound(Refused):
    """404: this vendor has no such thing in the key's environment."""


class NoRoute(NotFound):
    """404 of routes and quotes: nobody can carry it out; `problems` has each protocol and why."""


class Conflict(Refused):
    """409: the order's or the subscription's present state does not allow it."""


class KeyReused(Refused):
    """422: the idempotency key was used for another request."""


class TooManyRequests(Refused):
    """429: over the rate limit, still after all retries."""


class ServiceFailed(Refused):
    """500 and above: the service can't answer. A POST may have been carried out if the status is not 503."""


BY_STATUS: dict[int, type[Refused]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: KeyReused,
    429: TooManyRequests,
}


def choose_error(status: int) -> type[Refused]:
    """Return the exception for an HTTP status."""
    return BY_STATUS.get(status, ServiceFailed if status >= 500 else Refused)

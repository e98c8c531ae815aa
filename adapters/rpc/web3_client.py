"""A provider of web3 as one of our endpoints: the socket of a node, or a connection that a program has already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from socket import socket
from typing import Any, cast
from urllib.parse import unquote, urlsplit
from weakref import finalize

from adapters.base import BadPayload, Client, Declined, VenueUnavailable
from adapters.rpc.recursion import keep_recursion_limit

with keep_recursion_limit():
    from web3._utils.threads import Timeout
    from web3.exceptions import Web3Exception
    from web3.providers import IPCProvider, JSONBaseProvider
    from web3.types import RPCEndpoint

SOCKET_TIMEOUT_S = 30


class ProviderClient(Client):
    """Puts questions through a provider of web3.

    ``RpcPool(1, ["ipc:node"], client=ProviderClient(w3.provider))`` reads a chain through a connection that a program
    has already: its authentication, its middleware-free transport, its socket.

    Parameters
    ----------
    provider : web3.providers.JSONBaseProvider
        Synchronous. How long it may take is its own business.
    """

    def __init__(self, provider: JSONBaseProvider) -> None:
        self._provider, self._name = provider, type(provider).__name__

    def get(self, url: str, params: Mapping[str, str | int] | None = None) -> Any:
        """Decline: a provider answers JSON-RPC only."""
        raise Declined("a provider of web3 answers JSON-RPC only", status=405)

    def post(self, url: str, body: object) -> Any:
        """Put one question, or a batch of them; `url` says nothing that the provider does not know.

        Raises
        ------
        VenueUnavailable
            If the provider does not reach its node in time.
        Declined
            If a batch is refused as a whole.
        BadPayload
            If what comes back is no answer of JSON-RPC.
        """
        try:
            if isinstance(body, Mapping):
                return self._ask(body)
            return self._ask_batch(cast(Sequence[Mapping[str, Any]], body))
        except (Web3Exception, OSError, Timeout) as error:
            raise VenueUnavailable(f"{self._name}: {error or type(error).__name__}") from error
        except ValueError as error:
            raise BadPayload(f"{self._name}: {error}") from error

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._provider.make_request(RPCEndpoint(question["method"]), question["params"])
        return {**answer, "id": question["id"]}

    def _ask_batch(self, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        asked = [(RPCEndpoint(each["method"]), each["params"]) for each in questions]
        try:
            answers = self._provider.make_batch_request(asked)
        except AttributeError:  # IPCProvider sorts the answers, and trips over the one error of a refused batch
            answers = None
        if not isinstance(answers, list) or len(answers) != len(questions):
            raise Declined(f"{self._name}: a batch of {len(questions)} was refused", status=400)
        return [{**answer, "id": question["id"]} for question, answer in zip(questions, answers, strict=True)]


class SocketClient(ProviderClient):
    """Puts questions through the socket of a node on this machine.

    Parameters
    ----------
    url : str
        Such as ``ipc:///var/run/geth.ipc``.
    timeout_s : int
        An answer that takes longer is given up.
    """

    def __init__(self, url: str, timeout_s: int = SOCKET_TIMEOUT_S) -> None:
        self._path = Path(unquote(urlsplit(url).path))
        provider = IPCProvider(self._path, timeout=timeout_s)
        super().__init__(provider)
        finalize(self, _close, provider)

    def post(self, url: str, body: object) -> Any:
        """Put one question, or a batch of them; see `ProviderClient.post`."""
        if not self._path.is_socket():  # web3 would leave a socket open that was never connected
            raise VenueUnavailable(f"{self._path} is no socket; is the node running?")
        return super().post(url, body)


def _close(provider: IPCProvider) -> None:
    """Close the socket, for which web3 has no method."""
    connection: socket | None = getattr(provider._socket, "sock", None)
    if connection:
        connection.close()

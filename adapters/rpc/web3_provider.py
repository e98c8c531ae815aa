"""A pool of endpoints as a provider for web3: its contracts and middleware, with fail-over and bounds."""

from __future__ import annotations

from typing import Any

from adapters.base import AdapterError, Declined
from adapters.rpc.endpoint import Answer, RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.recursion import keep_recursion_limit

with keep_recursion_limit():
    from web3.providers import JSONBaseProvider
    from web3.types import RPCEndpoint, RPCResponse

READING = (
    "eth_call",
    "eth_chainId",
    "eth_estimateGas",
    "eth_blockNumber",
    "eth_gasPrice",
    "eth_feeHistory",
    "net_version",
)
GETTERS = "eth_get"


class PoolProvider(JSONBaseProvider):
    """Asks a chain through whichever endpoint answers.

    ``Web3(PoolProvider(RpcPool(1, urls)))`` is used like any other.

    Parameters
    ----------
    rpc : RpcPool
        The chain. It may put a question more than once, so only what reads is passed on.
    """

    def __init__(self, rpc: RpcPool) -> None:
        super().__init__()
        self._rpc = rpc

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Ask once through the pool.

        Raises
        ------
        Declined
            If the method does not only read.
        VenueUnavailable
            If no endpoint answers.
        """
        if method not in READING and not method.startswith(GETTERS):
            raise Declined(f"{method} may not be put more than once, as a pool of endpoints does", status=405)
        answer = self._rpc.ask([(method, list(params or ()))], _get_first)
        if isinstance(answer, RpcRefused):
            error = {"code": answer.number, "message": answer.said, "data": answer.data}
            return {"jsonrpc": "2.0", "id": 0, "error": error}  # type: ignore[typeddict-item]
        return {"jsonrpc": "2.0", "id": 0, "result": answer}

    def is_connected(self, show_traceback: bool = False) -> bool:
        """Whether an endpoint answers with a recent block."""
        try:
            self._rpc.read_head()
        except AdapterError:
            if show_traceback:
                raise
            return False
        return True


def _get_first(answers: list[Answer]) -> Answer:
    return answers[0]

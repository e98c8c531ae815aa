"""Chains read through providers of web3: a node's socket, and a connection that a program has already."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.base import Declined, VenueUnavailable
from adapters.rpc.endpoint import RpcRefused
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.web3_client import ProviderClient, SocketClient
from tests.support.anvil import running_anvil

# Behind adapters.rpc.web3_client, which keeps Python's recursion limit where it is.
from web3 import HTTPProvider  # isort: skip

CHAIN_ID = 1
NOBODY = "http://127.0.0.1:9/"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Run a node that answers over HTTP and through a socket."""
    path = tmp_path_factory.mktemp("node") / "node.ipc"
    with running_anvil(CHAIN_ID, "--ipc", str(path)) as url:
        yield url, path


def pool_of(*urls: str, client: ProviderClient | None = None) -> RpcPool:
    return RpcPool(CHAIN_ID, urls, client=client, finality_blocks=750, max_head_age_s=10**9)


def test_a_socket_gives_what_the_url_gives(node):
    url, path = node
    by_socket, by_url = pool_of(f"ipc://{path}"), pool_of(url)
    assert by_socket.read_head() == by_url.read_head()
    questions = [("eth_getBalance", [f"0x{number:040x}", "latest"]) for number in range(120)]
    assert by_socket.ask(questions, list) == by_url.ask(questions, list)
    assert by_socket.answered_by == f"ipc://{path}"


def test_a_provider_that_a_program_has_already(node):
    url, _ = node
    assert pool_of("program", client=ProviderClient(HTTPProvider(url))).read_head() == pool_of(url).read_head()


def test_a_refusal_is_an_answer_and_not_a_fault(node):
    _, path = node
    (answer,) = pool_of(f"ipc://{path}").ask([("eth_noSuchMethod", [])], list)
    assert isinstance(answer, RpcRefused)


def test_a_socket_that_is_gone_is_failed_over(node, tmp_path):
    url, _ = node
    pool = pool_of(f"ipc://{tmp_path / 'gone.ipc'}", url)
    assert pool.read_head().hash == pool_of(url).read_head().hash
    assert "gone.ipc" not in pool.answered_by
    with pytest.raises(VenueUnavailable, match="no socket; is the node running"):
        SocketClient(f"ipc://{tmp_path / 'gone.ipc'}").post("", {"method": "eth_chainId", "params": [], "id": 0})


@contextmanager
def answering(path: Path, answer: bytes) -> Iterator[None]:
    """Give one answer to whoever asks through the socket at `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen(1)

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(2**16)
                connection.sendall(answer)
                connection.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield


def test_a_batch_that_is_refused_as_a_whole_is_declined(tmp_path):
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "batches are off"}}
    with answering(tmp_path / "s", json.dumps(refusal).encode()):
        client = SocketClient(f"ipc://{tmp_path}/s", timeout_s=5)
        with pytest.raises(Declined, match="a batch of 2 was refused"):
            client.post("", [{"method": "eth_chainId", "params": [], "id": number} for number in range(2)])


def test_an_answer_that_never_ends_is_given_up(tmp_path):
    with answering(tmp_path / "s", b'{"jsonrpc": "2.0", '):
        client = SocketClient(f"ipc://{tmp_path}/s", timeout_s=1)
        with pytest.raises(VenueUnavailable, match="IPCProvider"):
            client.post("", {"method": "eth_chainId", "params": [], "id": 0})


def test_it_answers_json_rpc_only():
    with pytest.raises(Declined, match="JSON-RPC only"):
        ProviderClient(HTTPProvider(NOBODY)).get(NOBODY)

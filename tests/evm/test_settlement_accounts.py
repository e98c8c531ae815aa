"""`checkout settlement set` asks the chain: a token without code or with other decimals is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli.commands import main
from tests.support.lying_rpc import LyingRpc, lying_rpc
from tests.support.main_net import MainNet, running_main_net

CHAIN = 8453
RECIPIENT = "0x" + "5a" * 20
Run = Callable[..., Result]


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(CHAIN) as net:
        yield net


@pytest.fixture
def run(net: MainNet, tmp_path: Path) -> Run:
    """Set an account of a new vendor in the test environment, whose chain this is."""

    def invoke(*words: str, url: str = net.chain.url) -> Result:
        """`url` may be several, with commas between them."""
        env = {"DATABASE_URL": f"sqlite:///{tmp_path / 'checkout.db'}", "DATA_DIR": str(tmp_path)}
        runner = CliRunner(env=env | {"TEST_RPC_URLS": f"{CHAIN}={url}"})
        runner.invoke(main, ["db", "upgrade"])
        runner.invoke(main, ["vendors", "create", "Tea"])
        fixed = ("--env", "test", "--currency", "USDC", "--chain", str(CHAIN), "--address", RECIPIENT)
        return runner.invoke(main, ["settlement", "set", "Tea", *fixed, *words])

    return invoke


def test_a_listed_token_that_is_there_is_taken(run: Run) -> None:
    result = run("--token", "USDC")
    assert result.exit_code == 0, result.output
    assert "not connected" not in result.stderr
    assert "not listed" not in result.stderr


def test_an_unlisted_token_is_taken_with_its_own_decimals(run: Run, net: MainNet) -> None:
    token = _unlisted(net, 9)
    taken = run("--token", token, "--decimals", "9")
    assert taken.exit_code == 0
    assert "not listed: what its events tell counts as paid" in taken.stderr
    wrong = run("--token", token, "--decimals", "18")
    assert wrong.exit_code == 1
    assert "decimals: The token's contract says 9, not 18" in wrong.output


def test_an_address_without_code_is_no_token(run: Run) -> None:
    result = run("--token", "0x" + "12" * 20, "--decimals", "18")
    assert result.exit_code == 1
    assert "token: There is no contract at" in result.output


def test_a_contract_without_decimals_is_no_token(run: Run, net: MainNet) -> None:
    result = run("--token", net.v2_factory.address, "--decimals", "18")
    assert result.exit_code == 1
    assert "it does not say its decimals" in result.output


def test_a_chain_that_does_not_answer_sets_nothing(run: Run) -> None:
    result = run("--token", "USDC", url="http://127.0.0.1:9/")
    assert result.exit_code == 1
    assert f"chain: Chain {CHAIN} does not answer" in result.output


@contextmanager
def calling(net: MainNet, token: str, decimals: int) -> Iterator[LyingRpc]:
    """Run an endpoint that invents the decimals of a token."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        is_asked = method == "eth_call" and params[0].get("to", "").lower() == token.lower()
        return f"0x{decimals:064x}" if is_asked else answer

    with lying_rpc(net.chain.url, lie) as liar:
        yield liar


def test_one_liar_among_three_endpoints_decides_no_decimals(run: Run, net: MainNet) -> None:
    """A price of 1 would be paid with a billionth of the token, or the right number be refused."""
    token = _unlisted(net, 18)
    with calling(net, token, 9) as liar:
        urls = ",".join((liar.url, net.chain.url, f"{net.chain.url}?second"))
        wrong = run("--token", token, "--decimals", "9", url=urls)
        assert "decimals: The token's contract says 18, not 9" in wrong.output
        assert run("--token", token, "--decimals", "18", url=urls).exit_code == 0


def test_two_endpoints_that_contradict_each_other_set_nothing(run: Run, net: MainNet) -> None:
    token = _unlisted(net, 18)
    with calling(net, token, 9) as liar:
        refused = run("--token", token, "--decimals", "9", url=f"{liar.url},{net.chain.url}")
    assert refused.exit_code == 1
    assert "they contradict each other" in refused.output


def _unlisted(net: MainNet, decimals: int) -> str:
    from tests.support.main_net import _mock_token

    return net.chain.deploy(_mock_token(), "Leaf", "LEAF", decimals).address

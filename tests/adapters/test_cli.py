"""``routing-engine adapters``: what is installed, and how it is doing."""

from __future__ import annotations

import json

from click.testing import CliRunner

from adapters.chain.protocol import ChainProtocol, find_protocols
from routing_engine.cli.app import cli
from routing_engine.reference.chains import CHAINS
from tests.support.anvil import running_anvil


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["adapters", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_what_is_installed_is_listed():
    code, out, _ = run("--format", "json")
    document = json.loads(out)
    found = {(each["name"], each["kind"]): each for each in document["installed"]}
    assert code == 0
    assert {("chain", "adapter"), ("gas", "adapter"), ("uniswap_v4", "protocol")} <= set(found)
    assert found["camelot", "protocol"]["chains"] == [42161]
    assert sorted(found["uniswap_v2", "protocol"]["chains"]) == sorted(CHAINS)


def test_endpoints_are_asked_and_faults_told():
    with running_anvil(10) as url:
        code, out, _ = run("--rpc", f"10={url}", "--rpc", f"1={url}/?key=secret", "--format", "json")
    right, wrong = json.loads(out)["endpoints"]
    assert code == 1
    assert (right["chain_id"], right["head"], right["fault"]) == (10, 0, "")
    assert "is chain 10, not 1" in wrong["fault"]
    assert "secret" not in out


def test_an_adapter_is_read_once():
    code, out, _ = run("--check", "sandbox", "--check", "market_file", "--format", "json")
    sandbox, market_file = json.loads(out)["checked"]
    assert code == 1
    assert sandbox["markets"] > 100
    assert sandbox["trouble"] == ""
    assert market_file["trouble"] == "not_connected"
    assert "sandbox" in run("--check", "sandbox")[1]


def test_an_adapter_that_is_not_installed_is_named():
    code, _, err = run("--check", "nosuch")
    assert code == 2
    assert "'nosuch' is not installed; there are" in err


def test_names_are_unique_on_every_chain():
    for chain_id in CHAINS:
        names = [protocol.name for protocol in find_protocols(chain_id)]
        assert len(set(names)) == len(names)
        needed = [name for name in vars(ChainProtocol) if not name.startswith("_")]
        assert all(hasattr(protocol, name) for protocol in find_protocols(chain_id) for name in needed)

"""The operator's commands, and the whole service started by one of them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner, Result
from eth_utils.address import to_checksum_address

from adapters.chain.deployments import read_deployments
from adapters.rpc.multicall import MULTICALL3
from api.cli.commands import main
from api.config import Config
from api.context import build_resources
from api.domain.env import EnvMode
from api.domain.scopes import ALL_SCOPES
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.services.vendors.vendors import list_accounts
from api.settings import SETTINGS
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.api.conftest import Merchant
from tests.support.running import find_free_port
from tests.support.shop import Shop

Run = Callable[..., Result]
USDC = token_registry.token("USDC", 1).address
ROUTERS_AND_BRIDGES = tuple(
    next(read_deployments(protocol, 1)).get_address(field)
    for protocol, field in (("uniswap_v3", "router"), ("across", "spoke_pool"), ("cctp", "token_messenger"))
)
RECIPIENT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words)

    return invoke


def test_settings_are_listed_with_their_values_but_no_secret(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOG_LEVEL", raising=False)
    monkeypatch.setenv("PORT", "8123")
    monkeypatch.setenv("METRICS_TOKEN", "s3cret")
    printed = run("settings", "--json").output
    rows = {row["setting"]: row for row in map(json.loads, printed.splitlines())}
    assert set(rows) == set(SETTINGS)
    assert rows["PORT"] == {"setting": "PORT", "value": "8123", "from": "environment"}
    assert rows["METRICS_TOKEN"] == {"setting": "METRICS_TOKEN", "value": "(set; not shown)", "from": "environment"}
    assert rows["LOG_LEVEL"] == {"setting": "LOG_LEVEL", "value": "INFO", "from": "default"}
    assert "s3cret" not in printed + run("settings").output


def test_an_address_of_a_database_that_is_none_is_said_without_its_password(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:s3cret@db:port/checkout")
    result = run("vendors", "list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: DATABASE_URL is no address of a database")
    assert "s3cret" not in result.output


@pytest.mark.rule("keys.10", "keys.13")
def test_a_vendor_is_made_with_keys_that_work(run: Run, resources: Resources) -> None:
    result = run("vendors", "create", "Tea & Co", "--json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert set(made) == {"vendor_id", "name", "test_key", "live_key"}
    with resources.database.read() as session:
        for env_mode in EnvMode:
            key = find_key(session, made[f"{env_mode}_key"], resources.clock.now())
            assert key is not None
            assert key.scopes == ALL_SCOPES
            assert (key.vendor_id, key.env_mode) == (made["vendor_id"], env_mode)
    listed = [json.loads(line) for line in run("vendors", "list", "--json").stdout.splitlines()]
    assert [row["name"] for row in listed] == ["Tea & Co"]
    assert made["test_key"] not in run("vendors", "list").output


def test_a_name_is_no_vendors_id(run: Run, merchant: Merchant) -> None:
    for name in (merchant.id, f" {merchant.id.upper()}"):
        result = run("vendors", "create", name)
        assert result.exit_code == 1
        assert "name: Must not begin like an id" in result.output
    assert merchant.id in run("keys", "list", merchant.id, "--json").output


@pytest.mark.in_turns
@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\nb"])
def test_a_vendor_needs_a_name(run: Run, name: str) -> None:
    result = run("vendors", "create", name)
    assert result.exit_code == 1
    assert "name: Must be 1 to 200 printable characters" in result.output


def test_a_name_is_given_once(run: Run) -> None:
    assert run("vendors", "create", "Tea").exit_code == 0
    result = run("vendors", "create", "Tea")
    assert result.exit_code == 1
    assert "choose another name" in result.output


@pytest.mark.rule("links.23")
def test_a_new_vendor_can_be_paid_in_the_test_environment(resources: Resources, merchant: Merchant) -> None:
    with resources.database.read() as session:
        accounts = {account.currency: account for account in list_accounts(session, merchant.id, EnvMode.TEST)}
        assert list_accounts(session, merchant.id, EnvMode.LIVE) == ()
    assert {"USDC", "USDT", "DAI", "ETH", "WETH", "WBTC", "EURC"} <= set(accounts)
    assert accounts["USDC"].token_address == "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
    assert (accounts["USDC"].chain_id, accounts["USDC"].token_decimals) == (8453, 6)
    elsewhere = [info for info in token_registry.tokens() if 8453 not in info.addresses and 1 in info.addresses]
    assert elsewhere
    assert {accounts[info.symbol].chain_id for info in elsewhere} == {1}
    assert accounts["ETH"].token_address == "0x" + "ee" * 20
    assert len({account.address for account in accounts.values()}) == 1
    assert re.fullmatch("0x[0-9a-f]{40}", accounts["USDC"].address)


def test_accounts_are_set_and_replaced(run: Run, merchant: Merchant) -> None:
    words = ("settlement", "set", merchant.id, "--env", "live", "--currency", "usdc", "--address", RECIPIENT)
    first = run(*words, "--chain", "1", "--token", "USDC")
    assert first.stdout == f"Tea & Co, live: USDC is received as USDC on chain 1 at {RECIPIENT}.\n"
    second = run(*words, "--chain", "8453", "--token", token_registry.token("USDT", 8453).address)
    assert second.stdout == f"Tea & Co, live: USDC is received as USDT on chain 8453 at {RECIPIENT}.\n"
    assert f"Before it was received as USDC on chain 1 at {RECIPIENT}" in second.stderr
    assert "Before" not in first.stderr
    (row,) = [
        json.loads(line)
        for line in run("settlement", "list", "Tea & Co", "--env", "live", "--json").stdout.splitlines()
    ]
    assert row == {
        "currency": "USDC",
        "chain_id": 8453,
        "token_address": to_checksum_address(token_registry.token("USDT", 8453).address),
        "token_decimals": 6,
        "address": RECIPIENT,
    }
    header, shown = run("settlement", "list", "Tea & Co", "--env", "live").stdout.splitlines()
    assert header.split() == ["currency", "chain", "id", "token", "address", "token", "decimals", "address"]
    assert shown.endswith(RECIPIENT)


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--currency": "GOLD"}, "currency: 'GOLD' is not the symbol"),
        ({"--currency": "USD"}, "currency: 'USD' is not the symbol"),
        ({"--token": "ARB", "--chain": "8453"}, "ARB is not known on chain 8453"),
        ({"--token": "0x12"}, "token: Expected 0x"),
        ({"--currency": "ETH"}, "token: USDC is not worth what ETH is: a price of 1 ETH would be paid with 1 USDC"),
        ({"--currency": "EURC"}, "token: USDC is not worth what EURC is"),
        ({"--token": "WETH"}, "token: WETH is not worth what USDC is"),
        ({"--token": "0x" + "12" * 20}, "decimals: Required"),
        ({"--address": RECIPIENT.replace("5aA", "5AA")}, "address: The checksum is wrong"),
        ({"--address": "0x" + "0" * 40}, "address: The zero address"),
        ({"--address": "me.eth"}, "address: Expected 0x"),
        ({"--chain": "56"}, "chain: Unknown chain 56; use one of 1 (Ethereum)"),
        ({"--token": "0x" + "12" * 20, "--decimals": "18"}, "chain: Connect chain 1 in RPC_URLS first"),
        ({"--decimals": "18"}, "decimals: USDC has 6, not 18"),
        ({"--token": USDC, "--decimals": "18"}, "decimals: USDC has 6, not 18"),
        ({"--address": USDC}, "address: Is the token's own contract"),
        ({"--address": token_registry.token("DAI", 1).address}, "address: Is the contract of a token"),
        ({"--address": CHAINS[1].wrapped_native}, "address: Is the contract of a token"),
        ({"--address": NATIVE_ADDRESS}, "address: Is nobody's"),
        ({"--address": "0x" + "0" * 39 + "4"}, "address: Is nobody's"),
        ({"--address": MULTICALL3}, "address: Is a contract of a market or a bridge"),
        *(({"--address": each}, "address: Is") for each in ROUTERS_AND_BRIDGES),
    ],
)
def test_a_bad_account_is_named(run: Run, merchant: Merchant, changes: dict[str, str], message: str) -> None:
    options = {"--currency": "USDC", "--chain": "1", "--token": "USDC", "--address": RECIPIENT} | changes
    words = [word for pair in options.items() for word in pair]
    result = run("settlement", "set", merchant.id, "--env", "live", *words)
    assert result.exit_code == 1
    assert message in result.output


@pytest.mark.parametrize(("currency", "token"), [("USDC", "DAI"), ("ETH", "WETH"), ("WETH", "ETH"), ("EURC", "EURC")])
def test_a_token_of_the_same_worth_settles_a_currency(run: Run, merchant: Merchant, currency: str, token: str) -> None:
    words = ("--currency", currency, "--chain", "1", "--token", token, "--address", RECIPIENT)
    assert run("settlement", "set", merchant.id, "--env", "live", *words).exit_code == 0


def test_an_account_is_removed_and_open_orders_keep_their_terms(run: Run, shop: Shop, merchant: Merchant) -> None:
    order_id = shop.create()
    before = shop.order(order_id)["settlement"]
    words = ("settlement", "remove", "Tea & Co", "--env", "test", "--currency", "usdc")
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "1 open orders keep their terms" in result.output
    assert shop.order(order_id)["settlement"] == before
    assert '"USDC"' not in run("settlement", "list", merchant.id, "--env", "test", "--json").stdout
    again = run(*words)
    assert again.exit_code == 1
    assert "There is no account for usdc in test mode" in again.output


def test_a_chain_that_is_not_connected_is_said(run: Run, merchant: Merchant) -> None:
    words = ("settlement", "set", merchant.id, "--currency", "USDC", "--chain", "1", "--token", "USDC")
    live = run(*words, "--env", "live", "--address", RECIPIENT)
    assert "links in this currency are refused" in live.stderr
    simulated = run(*words, "--env", "test", "--address", "0x" + "12" * 20)
    assert simulated.exit_code == 0
    assert "not connected" not in simulated.stderr


def test_an_old_schema_is_said(
    run: Run, monkeypatch: pytest.MonkeyPatch, make_database_url: Callable[[str], str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", make_database_url("sqlite"))
    assert "checkout db upgrade" in run("vendors", "list").output
    assert run("db", "upgrade").exit_code == 0
    assert run("vendors", "list").exit_code == 0


def test_no_database_is_made_where_the_service_has_none(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'other.db'}")
    result = run("vendors", "list")
    assert result.exit_code == 1
    assert "DATABASE_URL or DATA_DIR as the service has them" in result.output
    assert not (tmp_path / "other.db").exists()


def test_a_bad_setting_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eighty")
    result = run("vendors", "list")
    assert result.exit_code == 1
    assert "PORT" in result.output
    assert "Traceback" not in result.output


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, api.cli.commands; "
        "print([m for m in ('flask', 'sqlalchemy', 'numba', 'uvicorn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def up(port: int, data_dir: Path, **settings: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "api.cli", "up", "--port", str(port), "--data-dir", str(data_dir)]
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BASE_URL"}}
    return subprocess.Popen(
        command, env=environment | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def printed_key(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"sk_test_\S+", line):
            return found[0]
    raise AssertionError(process.communicate()[1])


def test_up_starts_everything_and_ends_it(tmp_path: Path) -> None:
    """By SIGTERM; `tests/docs/test_readme_service.py` ends it by Ctrl-C."""
    port = find_free_port()
    process = up(port, tmp_path)
    try:
        key = printed_key(process)
        assert requests.get(f"http://127.0.0.1:{port}/readyz", timeout=10).status_code == 200
        wrong = requests.get(f"http://127.0.0.1:{port}/v1/x", headers={"X-Api-Key": key + "x"}, timeout=10)
        assert wrong.status_code == 401
        right = requests.get(f"http://127.0.0.1:{port}/v1/x", headers={"X-Api-Key": key}, timeout=10)
        assert right.status_code == 404
        second = up(port, tmp_path)
        _, said = second.communicate(timeout=60)
        assert second.returncode == 1
        assert f"Port {port}" in said
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "Traceback" not in said
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def test_up_says_that_nothing_can_be_offered_and_starts_nothing(tmp_path: Path) -> None:
    chains = Path(__file__).parents[1] / "operator_chains" / "bnb_and_avalanche.json"
    wrong = json.loads(chains.read_text())
    wrong["chains"][0]["sandbox"]["venues"] = {"v5": "x"}
    (tmp_path / "chains.json").write_text(json.dumps(wrong))
    (tmp_path / "market.json").write_text("{")
    for name, file, said in (
        ("CHAINS_FILE", "chains.json", "chains[0].sandbox.venues.v5: is no venue"),
        ("MARKET_FILE", "market.json", "The market can't be loaded: "),
    ):
        process = up(find_free_port(), tmp_path, **{name: str(tmp_path / file)})
        told, wrote = process.communicate(timeout=60)
        assert process.returncode == 1, wrote
        assert said in wrote
        assert "Traceback" not in wrote
        assert "Payment page" not in told


def test_up_without_the_simulated_chains_has_no_page_to_show(tmp_path: Path) -> None:
    process = up(find_free_port(), tmp_path, TEST_RPC_URLS="8453=http://127.0.0.1:9")
    told, line = "", "."
    try:
        assert process.stdout is not None
        while line and "Ctrl-C" not in told:
            told += (line := process.stdout.readline())
        assert "sk_test_" in told
        assert "Payment page:  none: " in told
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said


PART = """
import signal, sys, threading
from api.startup.parts import fork_part
signal.signal(signal.SIGTERM, lambda *_: None)
part = fork_part("part", threading.Event().wait)
part.terminate()
part.join(20)
print(part.exitcode)
part.kill()
"""


def test_a_part_that_is_ended_as_it_begins_ends() -> None:
    """It had what its parent does at a signal, and was killed a quarter of a minute later."""
    done = subprocess.run([sys.executable, "-c", PART], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"{-signal.SIGTERM}\n"


def children_of(process: subprocess.Popen[str], command: str) -> list[int]:
    found = []
    for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            if Path(f"/proc/{each}/cmdline").read_text().startswith(f"checkout {command}\0"):
                found.append(int(each))
    return found


def test_up_replaces_a_worker_that_is_killed_and_ends_when_the_api_ends(tmp_path: Path) -> None:
    process = up(find_free_port(), tmp_path)
    try:
        printed_key(process)
        workers = children_of(process, "worker")
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while len(present := children_of(process, "worker")) < 2 or workers[0] in present:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)
        assert process.poll() is None
        (serve,) = children_of(process, "serve")
        os.kill(serve, signal.SIGKILL)
    except BaseException:
        process.send_signal(signal.SIGTERM)
        raise
    finally:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "`checkout worker` was killed by signal 9; it is started again." in said
    assert "`checkout serve` ended with status -9" in said


def test_a_process_takes_the_system_clock(config: Config) -> None:
    built = build_resources(config)
    built.database.engine.connect().close()
    built.database.close()
    assert built.clock.now().utcoffset() is not None

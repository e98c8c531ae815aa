"""Settings from the environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.feed.plan import Plan
from api.config import Config, ConfigError
from api.doubtful_settings import list_misspelt, list_unknown_chains
from api.serving.ports import require_free_port
from api.settings import SETTINGS
from tests.support.running import find_free_port

NAMES = (
    "DATA_DIR", "DATABASE_URL", "PORT", "HOST", "BASE_URL", "REDIS_URL", "MARKET_FILE", "ALLOW_LOCAL_WEBHOOKS",
    "ADAPTERS", "RPC_URLS", "ADAPTER_OPTIONS", "SOURCE_INTERVALS", "SOURCE_MAX_AGES",
)  # fmt: skip


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.rule("limits.1", "limits.2", "limits.3")
def test_without_settings_it_runs_on_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config.from_env()
    assert config.data_dir == tmp_path / ".data"
    assert config.database_url == f"sqlite:///{tmp_path}/.data/checkout.db"
    assert (config.host, config.port, config.base_url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert (config.rate_limit_key, config.rate_limit_routing, config.rate_limit_keyless) == (300, 100, 50)
    assert config.rate_limit_page == 1500
    assert not config.allow_local_webhooks
    assert config.redis_url is None
    assert config.market_file is None


def test_settings_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "9001")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:secret@db/checkout")
    monkeypatch.setenv("BASE_URL", "https://pay.example/")
    monkeypatch.setenv("ALLOW_LOCAL_WEBHOOKS", "true")
    monkeypatch.setenv("MARKET_FILE", "/srv/market.json.gz")
    config = Config.from_env()
    assert config.port == 9001
    assert config.database_url == "postgresql+psycopg://me:secret@db/checkout"
    assert config.base_url == "https://pay.example"
    assert config.allow_local_webhooks
    assert config.market_file == Path("/srv/market.json.gz")
    assert "secret" not in repr(config)


def test_the_port_is_part_of_the_default_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "9001")
    assert Config.from_env().base_url == "http://127.0.0.1:9001"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "70000"),
        ("PORT", "eighty"),
        ("RATE_LIMIT_KEY", "-1"),
        ("ALLOW_LOCAL_WEBHOOKS", "perhaps"),
        ("DATABASE_URL", "mysql://db/checkout"),
        ("BASE_URL", "pay.example"),
        ("BASE_URL", "https://me:secret@pay.example"),
        ("BASE_URL", "https://pay.example?a=b"),
        ("BASE_URL", "https://pay.example#here"),
        ("BASE_URL", "https://pay.example, https://two.example"),
        ("BASE_URL", "https://pay.example:port"),
        ("BASE_URL", "https://"),
        ("LOG_LEVEL", "LOUD"),
        ("REDIS_URL", "http://cache"),
        ("REDIS_URL", "cache:6379"),
        ("FORWARDED_ALLOW_IPS", "127.0.0.1,proxy"),
    ],
)
def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=name):
        Config.from_env()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("WEB_THREADS", "many", "WEB_THREADS is 'many', but must be a whole number from 1 to 1000, in digits alone"),
        ("WEB_THREADS", "-1", "WEB_THREADS is '-1', but must be a whole number from 1 to 1000"),
        ("WEB_WORKERS", "1000000", "WEB_WORKERS is '1000000', but must be a whole number from 1 to 256"),
        ("PORT", "٨٠", "PORT is '٨٠', but must be a whole number from 1 to 65535, in digits alone, such as 8000"),
        ("RATE_LIMIT_PAGE", "1_000", "RATE_LIMIT_PAGE is '1_000', but must be a whole number from 1 to 1000000"),
        ("VALUE_OF_TIME", "0,25", "VALUE_OF_TIME is '0,25', but must be a number from 0 to 1000, such as 0.25"),
        ("VALUE_OF_TIME", "1e400", "VALUE_OF_TIME is '1e400', but must be a number from 0 to 1000"),
        ("DATABASE_POOLED", "perhaps", "DATABASE_POOLED is 'perhaps', but must be true or false"),
        ("LOG_LEVEL", "info", "LOG_LEVEL is 'info', but must be one of DEBUG, INFO, WARNING, ERROR"),
        ("HOST", "127.0.0.1:80", "HOST is '127.0.0.1:80', but must be an address of this machine, without a port"),
        ("HOST", "256.1.1.1", "HOST is '256.1.1.1', but must be an address of this machine"),
        ("HOST", "0", "HOST is '0', but must be an address of this machine"),
        ("BASE_URL", "pay.example", "BASE_URL is 'pay.example', but must start with http:// or https://, such as"),
        ("BASE_URL", "https://me:SECRET@pay.example", "BASE_URL is a text of 29 characters, but must be a plain"),
        ("PORT", "https://rpc.example/SECRET", "PORT is a text of 26 characters, but must be a whole number"),
        ("DATABASE_URL", "mysql://me:SECRET@db/x", "DATABASE_URL is a text of 22 characters, but must start with post"),
        ("DATABASE_URL", "postgresql://me:SEC#RET@db:port/x", "DATABASE_URL is no address of a database"),
        ("DATABASE_URL", "sqlite://", "DATABASE_URL names no file"),
        ("DATABASE_URL", "postgresql://checkout:change-me@127.0.0.1/checkout", "DATABASE_URL still has change-me"),
        ("METRICS_TOKEN", "change-me", "METRICS_TOKEN still has change-me in it: put a value of your own there"),
        ("REDIS_URL", "redis://me:SECRET@cache:port", "REDIS_URL is a text of 28 characters, but must be an"),
        ("REDIS_URL", "redis://cache/one", "REDIS_URL is a text of 17 characters, but must be an address that"),
        ("METRICS_TOKEN", "pässword", "METRICS_TOKEN is a text of 8 characters, but no header can hold it"),
        ("DATA_DIR", "~nobodyhasthisname/x", "DATA_DIR is '~nobodyhasthisname/x', but there is no such account"),
        ("DATA_DIR", "https://x/SECRET", "DATA_DIR is a text of 16 characters, which is an address: give a path"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_was_got_what_is_allowed_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}") as error:
        Config.from_env()
    assert "SEC" not in str(error.value)


def test_every_setting_takes_an_empty_value_for_none_and_no_notice_of_spaces(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of an empty HOST every interface would be opened, and of an empty DATA_DIR this folder closed to others."""
    monkeypatch.chdir(tmp_path)
    for name in SETTINGS:  # a command that ran before may have left one
        monkeypatch.delenv(name, raising=False)
    bare = Config.from_env()
    for name in SETTINGS:
        monkeypatch.setenv(name, " ")
    assert Config.from_env() == bare
    monkeypatch.setenv("PORT", "9001 ")
    monkeypatch.setenv("BASE_URL", " https://pay.example ")
    assert (Config.from_env().port, Config.from_env().base_url) == (9001, "https://pay.example")


def test_a_host_that_this_machine_does_not_have_is_not_said_of_the_port(tmp_path: Path) -> None:
    for host in ("192.0.2.1", "nowhere.invalid"):
        config = Config(data_dir=tmp_path, database_url="sqlite:///x", host=host, port=find_free_port())
        with pytest.raises(ConfigError, match=f"^HOST is '{host}', but must be an address of this machine"):
            require_free_port(config)


def test_names_that_are_nearly_settings_are_told_and_those_of_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    misspelt = {
        "CONFIRMATION": "CONFIRMATIONS",
        "RPC_URL_99": "RPC_URLS",
        "DATABASE_URI": "DATABASE_URL",
        "database_url": "DATABASE_URL",
        "Web_Thread": "WEB_THREADS",
        "RATE_LIMIT_ROUTES": "RATE_LIMIT_ROUTING",
        "TEST_RPC_URL": "TEST_RPC_URLS",
        "LOGLEVEL": "LOG_LEVEL",
    }
    of_others = (
        "HOSTNAME", "PORT0", "WEB_CONCURRENCY", "CHECKOUT_PORT", "CHECKOUT_SERVICE_HOST", "REDIS_PORT_6379_TCP",
        "DATABASE_PORT", "REQUESTS_CA_BUNDLE", "HOSTTYPE", "XDG_DATA_HOME", "NUMBA_NUM_THREADS",
    )  # fmt: skip
    for name in (*misspelt, *of_others):
        monkeypatch.setenv(name, "x")
    assert {name: meant for name, meant in list_misspelt() if name in (*misspelt, *of_others)} == misspelt


def test_a_chain_that_nobody_describes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RPC_URLS", "8543=https://a.test;8453=https://a.test")
    monkeypatch.setenv("TEST_RPC_URLS", "84532=https://a.test")
    monkeypatch.setenv("CONFIRMATIONS", "*:1=1;4216:1=1;42161:1=1")
    told = [*list_unknown_chains(Config.from_env())]
    assert told == [("RPC_URLS", 8543), ("TEST_RPC_URLS", 84532), ("CONFIRMATIONS", 4216)]


def test_without_adapters_the_market_is_the_sandbox(tmp_path: Path) -> None:
    assert Config.from_env({"DATA_DIR": str(tmp_path)}).market == Plan()


def test_the_live_markets_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADAPTERS", "chain, across,")
    monkeypatch.setenv(
        "RPC_URLS", "1=https://a.test/v2/KEY=1, https://b.test; 10=http://127.0.0.1:8545,ipc:///run/geth.ipc"
    )
    monkeypatch.setenv("ADAPTER_OPTIONS", "across.url=https://across.test/api?x=1;")
    monkeypatch.setenv("SOURCE_INTERVALS", "across=60;chain@1=12.5")
    monkeypatch.setenv("SOURCE_MAX_AGES", "chain=90")
    plan = Config.from_env().market
    assert plan == Plan(
        adapters=("chain", "across"),
        rpc_urls={
            1: ("https://a.test/v2/KEY=1", "https://b.test"),
            10: ("http://127.0.0.1:8545", "ipc:///run/geth.ipc"),
        },
        options={"across": {"url": "https://across.test/api?x=1"}},
        intervals_s={"across": 60.0, "chain@1": 12.5},
        max_ages_s={"chain": 90.0},
    )
    assert "KEY" not in repr(Config.from_env())


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "RPC_URLS",
            "https://a.test/SECRET",
            "RPC_URLS: part 1 of 1, a text of 21 characters, has no =; write the parts with",
        ),
        (
            "RPC_URLS",
            "https://a.test/SECRET?x=1",
            "RPC_URLS: part 1 of 1, a text of 25 characters, begins with no name",
        ),
        (
            "RPC_URLS",
            "one=https://a.test",
            "RPC_URLS: one is no number of a chain; write it as in 1=https://one.example,",
        ),
        ("RPC_URLS", "1=", "RPC_URLS: 1: there is none: every endpoint must be"),
        (
            "RPC_URLS",
            "1=https://a.b,ftp://a.test/SECRET",
            "RPC_URLS: 1: endpoint 2 of 2 is a text of 19 characters that",
        ),
        ("RPC_URLS", "1=https://a.test/SECRET 10=https://b.test", "RPC_URLS: 1: endpoint 1 of 1 is a text of"),
        ("RPC_URLS", "1=https://a.test:port/SECRET", "RPC_URLS: 1: endpoint 1 of 1 is a text of"),
        ("RPC_URLS", "0=https://a.test", "RPC_URLS: 0 is no number of a chain"),
        ("RPC_URLS", "SECRET" * 9 + "=https://a.test", "RPC_URLS: a name of 54 characters is no number of a chain"),
        ("RPC_URLS", "1=ipc://geth.ipc", "RPC_URLS: 1: endpoint 1 of 1 is a text of"),
        ("RPC_URLS", "1=https://a.test;1=https://b.test", "RPC_URLS: 1 is given twice"),
        ("RPC_URLS", "1=https://a.test;01=https://b.test", "RPC_URLS: 01 is no number of a chain"),
        ("ADAPTER_OPTIONS", "url=x", "ADAPTER_OPTIONS: url names no option of an adapter; write it as in across.url="),
        ("SOURCE_INTERVALS", "across", "SOURCE_INTERVALS: part 1 of 1, a text of 6 characters, has no ="),
        ("SOURCE_INTERVALS", "across=often", "SOURCE_INTERVALS: across: 'often' must be a number of seconds"),
        ("SOURCE_INTERVALS", "across=nan", "SOURCE_INTERVALS: across: 'nan' must be a number of seconds"),
        (
            "SOURCE_MAX_AGES",
            "across=0",
            "SOURCE_MAX_AGES: across: '0' must be a number of seconds above 0",
        ),
        ("SOURCE_INTERVALS", "across=5", "SOURCE_INTERVALS: is of no use without ADAPTERS"),
    ],
)
def test_a_wrong_setting_of_the_live_market_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        Config.from_env()
    assert "SECRET" not in str(error.value)


def test_a_file_and_adapters_exclude_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADAPTERS", "across")
    monkeypatch.setenv("MARKET_FILE", "/srv/market.json")
    with pytest.raises(ConfigError, match="set one of the two"):
        Config.from_env()

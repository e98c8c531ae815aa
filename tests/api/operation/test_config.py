"""Settings from the environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.feed.plan import Plan
from api.config import Config, ConfigError
from api.misspelt_settings import list_misspelt

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
        ("RPC_URLS", "https://a.test/SECRET", "RPC_URLS: write name=value"),
        ("RPC_URLS", "https://a.test/SECRET?x=1", "RPC_URLS: a name has letters, digits and"),
        ("RPC_URLS", "one=https://a.test", "RPC_URLS: one is no chain id"),
        ("RPC_URLS", "1=", "RPC_URLS: 1: every endpoint must be"),
        ("RPC_URLS", "1=ftp://a.test/SECRET", "RPC_URLS: 1: every endpoint must be"),
        ("RPC_URLS", "1=ipc://geth.ipc", "RPC_URLS: 1: every endpoint must be"),
        ("RPC_URLS", "1=https://a.test;1=https://b.test", "RPC_URLS: 1 is given twice"),
        ("ADAPTER_OPTIONS", "url=x", "ADAPTER_OPTIONS: write adapter.option=value"),
        ("SOURCE_INTERVALS", "across", "SOURCE_INTERVALS: write name=value"),
        ("SOURCE_INTERVALS", "across=often", "SOURCE_INTERVALS: across: must be a number of seconds"),
        ("SOURCE_INTERVALS", "across=nan", "SOURCE_INTERVALS: across: must be a number of seconds"),
        ("SOURCE_MAX_AGES", "across=0", "SOURCE_MAX_AGES: across: must be a number of seconds"),
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

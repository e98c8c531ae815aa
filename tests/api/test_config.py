"""Settings from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.config import Config, ConfigError

NAMES = ("DATA_DIR", "DATABASE_URL", "PORT", "HOST", "BASE_URL", "REDIS_URL", "MARKET_FILE", "ALLOW_LOCAL_WEBHOOKS")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_without_settings_it_runs_on_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config.from_env()
    assert config.data_dir == tmp_path / ".data"
    assert config.database_url == f"sqlite:///{tmp_path}/.data/checkout.db"
    assert (config.host, config.port, config.base_url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert (config.rate_limit_key, config.rate_limit_routing, config.rate_limit_keyless) == (300, 100, 50)
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
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=name):
        Config.from_env()

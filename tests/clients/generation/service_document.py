"""The OpenAPI document of this tree's service, without a database."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from api.app import build_app
from api.config import Config
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.resources import Resources
from api.storage.db import Database
from tests.support.clock import SettableClock
from tests.support.contract import BASE_URL, read_document


def read_service_document() -> dict[str, Any]:
    """Return the document; nothing is asked of the service."""
    with TemporaryDirectory() as folder:
        url, key = f"sqlite:///{folder}/none.db", base64.b64encode(bytes(32)).decode()
        config = Config(data_dir=Path(folder), database_url=url, base_url=BASE_URL, secret_keys=(key,))
        clock, database = SettableClock(datetime(2026, 3, 1, tzinfo=UTC)), Database(url)
        market = MarketService(load_offline(None), clock)
        shared = Resources(config=config, clock=clock, database=database, market=market, ledgers={})
        try:
            return read_document(build_app(shared))
        finally:
            database.engine.dispose()

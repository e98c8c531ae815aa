"""Connections to a local node that stay open: opening one takes longer than most answers."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from urllib3 import HTTPConnectionPool

TIMEOUT_S = 30
THREADS = 16
HEADERS = {"content-type": "application/json"}


class NodeConnection:
    """Asks a node; any thread may."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._pool = HTTPConnectionPool(parts.hostname, parts.port, timeout=TIMEOUT_S, maxsize=THREADS, retries=False)

    def ask(self, body: object) -> Any:
        """Post a question, or a batch, and return the answer."""
        return json.loads(self._pool.urlopen("POST", "/", body=json.dumps(body).encode(), headers=HEADERS).data)

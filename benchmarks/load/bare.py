"""What this stack can do at all: Flask and SQLAlchemy with one row in, one row out, a template, and bytes.

No key, no check of what comes in, no limit, no log, no event. ``bare:asgi`` stands behind a2wsgi, as most Flask
applications under uvicorn do; ``bare:twin`` behind the service's own bridge.
"""

from __future__ import annotations

import json
import os
import secrets
from functools import cache
from typing import Any

from a2wsgi import WSGIMiddleware
from flask import Flask, Response, request
from sqlalchemy import create_engine, event, text

from api.schemas.routing.pairs import DEFAULT_SPLITS
from api.services.routing.query import ANSWER_WORK
from api.serving.bridge import WsgiBridge
from routing_engine import Router, RouteRequest, Snapshot

THREADS = 16
LINES = 400
TOKENS = json.dumps({"tokens": [{"symbol": f"T{n}", "chains": [1, 10, 8453]} for n in range(1_400)]}).encode()
"""About as long as the service's list."""
PAGE = "<!doctype html><title>{{ title }}</title>" + "".join(
    f'<p class="line-{n}">{{{{ words[{n}] }}}} and what stands around a word on a page, such as its markup</p>'
    for n in range(LINES)
)
WORDS = [f"word {n}" for n in range(LINES)]

is_sqlite = os.environ["BARE_DATABASE"].startswith("sqlite")
engine = create_engine(os.environ["BARE_DATABASE"], pool_size=THREADS)
app = Flask(__name__)
template = app.jinja_env.from_string(PAGE)


@event.listens_for(engine, "connect")
def _configure(connection: Any, _: Any) -> None:
    if is_sqlite:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA busy_timeout=30000")


with engine.begin() as start:
    start.execute(text("CREATE TABLE IF NOT EXISTS bare_orders (id TEXT PRIMARY KEY, body TEXT)"))


@app.post("/orders")
def create() -> dict[str, str]:
    """Write a row."""
    order_id = secrets.token_hex(16)
    with engine.begin() as connection:
        row = {"id": order_id, "body": json.dumps(request.get_json())}
        connection.execute(text("INSERT INTO bare_orders VALUES (:id, :body)"), row)
    return {"id": order_id}


@app.get("/orders/<order_id>")
def read(order_id: str) -> Any:
    """Read a row."""
    with engine.connect() as connection:
        body = connection.execute(text("SELECT body FROM bare_orders WHERE id = :id"), {"id": order_id}).scalar_one()
    return json.loads(body)


@app.get("/page")
def page() -> str:
    """Fill in a template."""
    return template.render(title="Bare", words=WORDS)


@app.get("/tokens")
def tokens() -> Response:
    """Answer with bytes that are there."""
    return Response(TOKENS, mimetype="application/json")


@app.get("/healthz")
def healthz() -> dict[str, str]:
    """Say that it lives."""
    return {"status": "ok"}


@cache
def load_router() -> Router:
    """Return a router on the market that the service has, too."""
    return Router(Snapshot.sandbox())


@app.get("/quote")
def quote() -> dict[str, str]:
    """Search for what the service's quote searches for, by its options; check, keep and tell nothing besides."""
    asked = request.args
    result = load_router().find_routes(
        RouteRequest(
            token_in=f"{asked['fromToken']}@{asked['fromChain']}",
            token_out=f"{asked['toToken']}@{asked['toChain']}",
            amount=int(asked["fromAmount"]),
            max_splits=DEFAULT_SPLITS,
            time_budget_ms=None,
            work_budget=ANSWER_WORK,
        )
    )
    return {"toAmount": str(result.best().amount_out)}


asgi = WSGIMiddleware(app, workers=THREADS)  # type: ignore[arg-type]  # theirs is narrower
twin = WsgiBridge(app.wsgi_app, threads=THREADS)

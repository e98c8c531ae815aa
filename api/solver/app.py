"""The Flask application: bodies in, bodies out. `routing_engine.auction` does the work."""

from __future__ import annotations

import json
import threading
from collections import Counter
from decimal import Decimal
from typing import Any, NoReturn

import structlog
from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from routing_engine.auction.model import Auction
from routing_engine.auction.reading import read_auction
from routing_engine.auction.solver import LONGEST_S, solve_auction
from routing_engine.auction.writing import write_solutions
from routing_engine.errors import InvalidAuction

log = structlog.get_logger(__name__)

MOST_BYTES = 64 * 1024 * 1024
"""An auction of a thousand orders and its liquidity takes some megabytes."""

SHOWN = 20


def build_solver(*, chain_id: int = 1, longest_s: float = LONGEST_S, most_at_once: int = 1) -> Flask:
    """Build the application.

    Parameters
    ----------
    chain_id : int
        Of the auctions; a request does not say.
    longest_s : float
        The most that one auction may take, however far its deadline is.
    most_at_once : int
        Auctions that are solved side by side; for more the answer is 429.
    """
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
    places = threading.BoundedSemaphore(most_at_once)

    @app.post("/solve")
    def solve() -> Response | tuple[Response, int]:
        auction = read_auction(_parse(request.get_data()), chain_id)
        if not places.acquire(blocking=False):
            return _write_error("is busy with another auction; try again", 429)
        try:
            solved = solve_auction(auction, chain_id=chain_id, longest_s=longest_s)
        finally:
            places.release()
        _tell(auction, len(solved.solutions), is_complete=solved.is_complete)
        return jsonify(write_solutions(solved.solutions))

    @app.post("/notify")
    def notify() -> Response:
        log.info("driver_notified", notification=request.get_data(as_text=True)[:2000])
        return Response(status=200)

    @app.get("/healthz")
    def tell_health() -> Response:
        return Response(status=200)

    app.register_error_handler(InvalidAuction, lambda error: _write_error(str(error), 400))
    app.register_error_handler(HTTPException, lambda error: _write_error(error.description or "", error.code or 500))
    return app


def _parse(body: bytes) -> Any:
    """Parse JSON without losing a digit.

    Raises
    ------
    InvalidAuction
        If it is none, or nested or long beyond use.
    """
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidAuction("body", f"must be JSON in UTF-8: {str(error)[:120]}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _write_error(message: str, status: int) -> tuple[Response, int]:
    """Write an error in the form that drivers read: `SolverError` of solvers-dto."""
    return jsonify({"error": {"code": "other", "message": message}}), status


def _tell(auction: Auction, solutions: int, *, is_complete: bool) -> None:
    """Log what came of an auction, and what of it was left out."""
    reasons = Counter(f"{skipped.where.partition('.')[0]}: {skipped.reason}" for skipped in auction.skipped)
    log.info(
        "auction_solved", auction=auction.id, orders=len(auction.orders), liquidity=len(auction.markets),
        solutions=solutions, is_complete=is_complete, skipped=dict(reasons.most_common(SHOWN)),
    )  # fmt: skip

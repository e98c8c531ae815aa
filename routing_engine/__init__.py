"""Exact routes over DEX pools and bridges, across chains.

Imports nothing else of this tree. Begin with `router.py`.

>>> from routing_engine import Router, RouteRequest, Snapshot
>>> snapshot = Snapshot.sandbox()
>>> weth, usdc = snapshot.token("WETH@1"), snapshot.token("USDC@1")
>>> result = Router(snapshot).find_routes(RouteRequest(token_in=weth, token_out=usdc, amount=10**18))
>>> result.best().token_out.symbol
'USDC'

Public names are imported on first use, so that a command line can answer ``--help`` before compilers are loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routing_engine.archive.archive import Archive, Replay
    from routing_engine.batch.quotes import Quotes
    from routing_engine.certificate import Certificate
    from routing_engine.errors import (
        AmbiguousToken,
        BadArchive,
        BadMarketFile,
        BadRecording,
        BadRequestFile,
        BrokenExtension,
        InsufficientLiquidity,
        InvalidMarket,
        InvalidRequest,
        NoRoute,
        PriceImpactTooHigh,
        QuoteRefused,
        Refusal,
        RoutingError,
        SearchEnded,
        UnknownToken,
        Unroutable,
    )
    from routing_engine.history.history import History
    from routing_engine.history.writer import HistoryWriter
    from routing_engine.market import Limits, Market
    from routing_engine.model import NATIVE_ADDRESS, Fee, Hop, Token
    from routing_engine.paths import Path
    from routing_engine.request import RouteRequest
    from routing_engine.result import RouteResult, Status, Unavailable
    from routing_engine.route import Leg, Route, Side
    from routing_engine.router import Router
    from routing_engine.snapshot.snapshot import Snapshot

__version__ = "0.1.0"
"""Of the whole tree; `setup.cfg` and the service's API read it here."""

_HOMES = {
    "errors": (
        "AmbiguousToken", "BadArchive", "BadMarketFile", "BadRecording", "BadRequestFile", "BrokenExtension",
        "InsufficientLiquidity", "InvalidMarket", "InvalidRequest", "NoRoute", "PriceImpactTooHigh", "QuoteRefused",
        "Refusal", "RoutingError", "SearchEnded", "UnknownToken", "Unroutable",
    ),
    "market": ("Limits", "Market"),
    "model": ("NATIVE_ADDRESS", "Fee", "Hop", "Token"),
    "archive.archive": ("Archive", "Replay"),
    "batch.quotes": ("Quotes",),
    "history.history": ("History",),
    "history.writer": ("HistoryWriter",),
    "certificate": ("Certificate",),
    "request": ("RouteRequest",),
    "result": ("RouteResult", "Status", "Unavailable"),
    "paths": ("Path",),
    "route": ("Leg", "Route", "Side"),
    "router": ("Router",),
    "snapshot.snapshot": ("Snapshot",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "NATIVE_ADDRESS",
    "AmbiguousToken",
    "Archive",
    "BadArchive",
    "BadMarketFile",
    "BadRecording",
    "BadRequestFile",
    "BrokenExtension",
    "Certificate",
    "Fee",
    "History",
    "HistoryWriter",
    "Hop",
    "InsufficientLiquidity",
    "InvalidMarket",
    "InvalidRequest",
    "Leg",
    "Limits",
    "Market",
    "NoRoute",
    "Path",
    "PriceImpactTooHigh",
    "QuoteRefused",
    "Quotes",
    "Refusal",
    "Replay",
    "Route",
    "RouteRequest",
    "RouteResult",
    "Router",
    "RoutingError",
    "SearchEnded",
    "Side",
    "Snapshot",
    "Status",
    "Token",
    "Unavailable",
    "UnknownToken",
    "Unroutable",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """List the public names and no others; an editor and an interpreter complete them before their first use."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])

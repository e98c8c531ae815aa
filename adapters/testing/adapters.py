"""The conformance suite for adapters: pure parsing, sound markets, the right errors for wrong answers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from adapters.base import Adapter, AdapterError, VenueUnavailable
from adapters.testing.markets import check_market
from adapters.testing.probe import NotConforming
from adapters.testing.replay import ReplayClient
from routing_engine.formats import Contents
from routing_engine.market import Market
from routing_engine.model import Token

WRONG: tuple[Any, ...] = (None, True, -1, 1.5, 10**80, 1e300, "", "-1", "٣", "0x", "1e400", [], {}, "\ud800\x00")
"""What is put in the place of each value of an answer, one after the other."""

Where = tuple[int | str, ...]


def check_adapter(
    make: Callable[[ReplayClient], Adapter[Any]],
    answers: Mapping[str, Any],
    *,
    seed: int = 0,
    changes: int = 400,
    **market_options: Any,
) -> Contents:
    """Check an adapter on recorded answers of its service, and return what it made of them.

    It reads everything through its client; parsing is pure and asks nothing; the markets keep what `check_market`
    checks; a service that is away or answers nonsense leads to an `AdapterError` and to nothing else.

    Parameters
    ----------
    make : callable
        Makes the adapter on a client.
    answers : mapping of str to object
        As `ReplayClient` takes them.
    seed, changes : int
        Which values of the answers to put wrong, and how many at most.
    **market_options
        Passed on to `check_market`.

    Raises
    ------
    NotConforming
        If something does not hold.
    """
    client = ReplayClient(answers)
    adapter = make(client)
    payload = adapter.fetch()
    asked = len(client.asked)
    _require(asked > 0, adapter, "fetch asks nothing of its client")
    contents = check_parsing(adapter, payload, seed=seed, **market_options)
    _require(len(client.asked) == asked, adapter, "parse asks the client; move that to fetch")
    away = make(ReplayClient({question: VenueUnavailable("away") for question in answers}))
    said = _find_error(away, "the service is away")
    _require(isinstance(said, VenueUnavailable), adapter, "does not raise VenueUnavailable for a service that is away")
    for where in _sample(list(_list_leaves(dict(answers))), seed, changes // len(WRONG)):
        for wrong in WRONG:
            _find_error(make(ReplayClient(_replace(dict(answers), where, wrong))), f"{where} is {wrong!r}")
    return contents


def check_parsing(adapter: Adapter[Any], payload: Any, *, seed: int = 0, **market_options: Any) -> Contents:
    """Check what an adapter makes of one payload, and return it.

    Raises
    ------
    NotConforming
        If parsing changes the payload, gives something else the second time, or gives a market that is not sound.
    """
    _require(bool(adapter.name) and adapter.name.isprintable(), adapter, "has no name")
    before = deepcopy(payload)
    contents = adapter.parse(payload)
    _require(payload == before, adapter, "parse changes its payload")
    _require(adapter.parse(payload) == contents, adapter, "parse gives something else the second time")
    _require(bool(contents.markets or contents.gas_prices), adapter, "gives neither market nor gas price")
    _check_ids(adapter, contents)
    for market in contents.markets:
        check_market(market, seed=seed, **market_options)
    return contents


def _check_ids(adapter: Adapter[Any], contents: Contents) -> None:
    markets: dict[str, Market] = {}
    tokens: dict[str, Token] = {}
    for market in contents.markets:
        _require(market.id not in markets, adapter, f"gives two markets with the id {market.id}")
        markets[market.id] = market
        for token in market.tokens:
            known = tokens.setdefault(token.key, token)
            _require(known.decimals == token.decimals, adapter, f"{token.key} has two numbers of decimals")


def _find_error(adapter: Adapter[Any], change: str) -> AdapterError | None:
    """Read and parse; give the error. Any other than an `AdapterError` does not conform."""
    try:
        contents = adapter.parse(adapter.fetch())
        _check_ids(adapter, contents)
        for market in contents.markets:
            json.dumps(market.to_record())
    except AdapterError as error:
        _require(bool(str(error)), adapter, f"raises {type(error).__name__} without a reason ({change})")
        return error
    except NotConforming:
        raise
    except Exception as error:  # whatever it raises is not what the seam allows
        raise NotConforming(f"{adapter.name}: raises {type(error).__name__} where {change}: {error}") from error
    return None


def _list_leaves(document: Any, where: Where = ()) -> Iterator[Where]:
    """Name every value of nested dicts and lists that is not one itself, and every dict and list within."""
    if where:
        yield where
    if isinstance(document, dict):
        for name, value in document.items():
            yield from _list_leaves(value, (*where, name))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from _list_leaves(value, (*where, number))


def _replace(document: Any, where: Where, value: Any) -> Any:
    """Return a copy in which one value is another."""
    changed = deepcopy(document)
    here = changed
    for step in where[:-1]:
        here = here[step]
    here[where[-1]] = value
    return changed


def _sample(places: list[Where], seed: int, most: int) -> list[Where]:
    return places if len(places) <= most else random.Random(seed).sample(places, most)


def _require(condition: bool, adapter: Adapter[Any], property_: str) -> None:
    if not condition:
        raise NotConforming(f"{adapter.name}: {property_}")

"""From names and settings to sources: which installed adapters to run, on what, and how often."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from adapters.base import AdapterError, Client, Connectable, Source, Venues
from adapters.feed.plan import Plan
from adapters.installed import load_adapters, refuse_source
from routing_engine.model import Token
from routing_engine.reference import token_registry

logger = logging.getLogger(__name__)

RPC_OPTION = "rpc_{}"


class Misfit(ValueError):
    """What an operator wrote fits nothing that is installed.

    Parameters
    ----------
    part : str
        The field of `Plan` that has it.
    """

    def __init__(self, part: str, message: str) -> None:
        super().__init__(message)
        self.part = part


class _Options(Mapping[str, str]):
    """An adapter's options, which note the names that it asks for, whether given or not; to list them asks for none."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given, self.asked = given, set[str]()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def connect(plan: Plan, http: Client, installed: Mapping[str, Connectable] | None = None) -> tuple[Source, ...]:
    """Connect the adapters of a plan.

    Parameters
    ----------
    plan : Plan
        What to run.
    http : Client
        Shared by all adapters that ask JSON services.
    installed : mapping of str to Connectable, optional
        What there is; the entry points of all installed packages by default.

    Raises
    ------
    Misfit
        Naming what is not installed, fits no source, or is an option that its adapter does not ask for.
    ValueError
        If an adapter has nothing to read.
    AdapterError
        If an adapter cannot use its options.
    """
    installed = load_adapters() if installed is None else installed
    _require_known("adapters", "adapter", plan.adapters, installed)
    _require_known("options", "option's adapter", plan.options, plan.adapters)
    sources = tuple(source for name in plan.adapters for source in _connect_one(plan, name, installed[name], http))
    names = {known for source in sources for known in (source.adapter.name, _find_kind(source))}
    _require_known("intervals_s", "interval's source", plan.intervals_s, names)
    _require_known("max_ages_s", "maximum age's source", plan.max_ages_s, names)
    return tuple(_set_times(plan, source) for source in sources)


def list_tokens() -> tuple[Token, ...]:
    """Return every token of the registry on every chain."""
    return tuple(info.on(chain_id) for info in token_registry.tokens() for chain_id in info.chain_ids)


def _connect_one(plan: Plan, name: str, adapter: Connectable, http: Client) -> Iterator[Source]:
    urls = {RPC_OPTION.format(chain_id): ",".join(each) for chain_id, each in plan.rpc_urls.items()}
    own = plan.options.get(name, {})
    options = _Options({**urls, **own})
    try:
        found = tuple(adapter.connect(Venues(http=http, tokens=list_tokens(), options=options)))
    except (ValueError, AdapterError):  # the operator's settings are wrong
        raise
    except Exception as fault:  # its code is, and the others go on
        logger.exception("adapter %s cannot be connected", name)
        found = (refuse_source(name, f"it cannot be connected: {type(fault).__name__}: {fault}"),)
    else:
        _require_known("options", f"option of {name}", own, options.asked - urls.keys())
    if not found:
        raise ValueError(f"adapter {name} has nothing to read; it needs options or RPC URLs")
    yield from found


def _set_times(plan: Plan, source: Source) -> Source:
    name, kind = source.adapter.name, _find_kind(source)
    interval_s = plan.intervals_s.get(name, plan.intervals_s.get(kind, source.interval_s))
    max_age_s = plan.max_ages_s.get(name, plan.max_ages_s.get(kind, source.max_age_s))
    return replace(source, interval_s=interval_s, max_age_s=max_age_s)


def _find_kind(source: Source) -> str:
    return source.adapter.name.partition("@")[0]


def _require_known(part: str, what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise Misfit(part, f"{what} {name!r} is unknown; known are {', '.join(sorted(known)) or 'none'}")

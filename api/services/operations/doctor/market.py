"""Whether there is a market to route on, and how fresh each of its sources is."""

from __future__ import annotations

from collections.abc import Iterator

from api.config import ConfigError
from api.services.market.supply import choose_supply
from api.services.operations.doctor.findings import Finding, blame, praise, warn
from api.services.resources import Resources

MARKET = "market"


def check_market(resources: Resources) -> Iterator[Finding]:
    """Read the market as a process of the service does: what the worker publishes, or every source once."""
    config = resources.config
    try:
        supply = choose_supply(config, resources.clock)()
        state = supply.read()
    except ConfigError as error:
        setting, _, problem = str(error).partition(": ")
        yield blame(MARKET, problem or str(error), f"correct {setting}")
        return
    supply.close()
    place = "see the worker's log and the source's endpoints"
    for source in state.sources:
        if source.is_left_out:
            yield blame(MARKET, f"{source.name} is left out: {source.reason or source.trouble}", place)
        elif source.trouble:
            yield warn(MARKET, f"{source.name} is in trouble: {source.reason or source.trouble}", place)
    count = len(state.snapshot.markets)
    if not count:
        yield blame(MARKET, "no source gives any market: nothing can be quoted or priced", place)
    elif not any(source.trouble or source.is_left_out for source in state.sources):
        origin = "live" if config.market.adapters else "of MARKET_FILE" if config.market_file else "of the sandbox"
        yield praise(MARKET, f"{count} markets, {origin}; no source is stale")

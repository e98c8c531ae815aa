"""Record better outputs: ``python -m tests.quality.record``. A recorded output is only ever replaced by a better one.

Where an output has fallen, it is listed, the old one stays, and the exit code is 1. Requests that are new are added,
those that are gone are left out. Without recorded data only the generated markets are done.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.conftest import SHARED_DATA
from tests.quality.cases import GENERATED, Market, load, lost, outputs, recorded_markets, save
from tests.quality.test_outputs import ROUNDING


def main() -> int:
    """Ask everything again and keep what is best."""
    fallen = _record("generated", GENERATED)
    if SHARED_DATA.is_dir():
        fallen += _record("recorded", recorded_markets(SHARED_DATA))
    return 1 if fallen else 0


def _record(name: str, markets: Mapping[str, Market]) -> int:
    """Return the number of outputs that fell."""
    known, kept, raised, fallen = load(name), {}, 0, 0
    for market, how in markets.items():
        kept[market] = outputs(how)
        for request, now in kept[market].items():
            before = known.get(market, {}).get(request)
            if before is None:
                continue
            part = lost(request, before, now)
            raised += part < 0
            if part > 0:
                kept[market][request] = before
            if part > ROUNDING:
                fallen += 1
                print(f"fallen by {1e4 * part:.3g} bps: {market}: {request}")
    save(name, kept)
    print(f"{name}: {sum(map(len, kept.values()))} outputs, {raised} raised, {fallen} fallen")
    return fallen


if __name__ == "__main__":
    sys.exit(main())

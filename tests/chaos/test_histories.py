"""Random histories of honest and hostile acts on real chains: each transfer counts at most once, for its payer's order.

`HISTORIES` says how many are run on each database, and `CHAOS_SEED` which dice are thrown; `make marathon` runs
thousands.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from api.domain.env import EnvMode
from api.services.settlement.crediting.crediting import credit
from tests.support.databases import Databases
from tests.support.histories import History, find_wrongs
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import chain_shop, open_another

HISTORIES = int(os.environ.get("HISTORIES", "8"))
SEED = int(os.environ.get("CHAOS_SEED", "7"))
BASE, ETHEREUM = 8453, 1
A_DATABASE = 20
"""Histories that share a database: each look reads the addresses of all merchants in it."""
DEATHS = 0.1
"""How often the worker dies in the middle of what it writes."""


class Died(Exception):
    """What happens to a worker now and then."""


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.mark.rule("evidence.14")
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_whatever_happens_each_transfer_counts_once_and_for_its_payers_order(
    dialect: str,
    nets: Mapping[int, MainNet],
    databases: Databases,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, deaths, acts, dice = time.monotonic(), [], 0, Random(SEED)

    def credit_and_die(*arguments: Any) -> None:
        credit(*arguments)
        if dice.random() < DEATHS:
            deaths.append(1)
            raise Died

    monkeypatch.setattr("api.services.settlement.watching.writing.credit", credit_and_die)
    for first in range(0, HISTORIES, A_DATABASE):
        folder = tmp_path / str(first)
        folder.mkdir()
        with chain_shop(nets, folder, dialect, databases.lend(dialect), env_modes=tuple(EnvMode)) as service:
            service.pass_time(2, 8)  # no reorganisation goes back behind the first act
            for number in range(first, min(first + A_DATABASE, HISTORIES)):
                name = f"{SEED} {dialect} {number}"
                shops = [
                    open_another(service, f"first of {name}"),
                    open_another(service, f"second of {name}"),
                    open_another(service, f"live of {name}", EnvMode.LIVE),
                ]
                history = History(shops=shops, rng=Random(name))
                history.run(Died)
                acts += len(history.log)
                history.settle(Died)
                wrongs = find_wrongs(history)
                assert wrongs == [], (number, wrongs, history.log)
        print(f"{min(first + A_DATABASE, HISTORIES)} of {HISTORIES} on {dialect}: {time.monotonic() - began:.0f} s")
    print(f"\n{HISTORIES} histories on {dialect}, {acts} acts, {len(deaths)} deaths: {time.monotonic() - began:.0f} s")

"""Two chains with the main nets' contracts, and a merchant on the second who may be paid from both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.databases import Databases
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import ChainShop, chain_shop

BASE, ETHEREUM = 8453, 1


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture
def shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    with chain_shop(nets, tmp_path, request.node.name, databases.lend("sqlite")) as opened:
        yield opened

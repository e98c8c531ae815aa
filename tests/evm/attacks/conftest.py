"""A shop on two chains with real contracts and both databases, and a contract that does whatever it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from api.domain.env import EnvMode
from tests.support.attacks import BASE
from tests.support.databases import DIALECTS, Databases
from tests.support.evm import Contract
from tests.support.first_looks import look_first
from tests.support.main_net import MainNet
from tests.support.settlement import ChainShop, chain_shop
from tests.support.vyper_source import compiled


@pytest.fixture
def env_modes() -> Sequence[EnvMode]:
    """For which environments the chains are read: a second one would look at all of them once more, for nobody."""
    return (EnvMode.TEST,)


@pytest.fixture(params=DIALECTS)
def shop(
    nets: Mapping[int, MainNet],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
    env_modes: Sequence[EnvMode],
) -> Iterator[ChainShop]:
    lent = databases.lend(request.param)
    with chain_shop(nets, tmp_path, request.node.name, lent, env_modes=env_modes) as opened:
        look_first(opened)
        yield opened


@pytest.fixture
def runner(shop: ChainShop) -> Contract:
    """A contract that does whatever calls it is told to: a multicall, an entry point, somebody's account."""
    return shop.nets[BASE].chain.deploy(compiled("runner"))

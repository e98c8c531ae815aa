"""What tests on local chains share: a chain with a pool for each module, the shop that is paid on it, and a wallet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.chain_shop import open_base_shop, open_net, open_wallet
from tests.browser.shop import Shop
from tests.browser.wallet import TestWallet
from tests.support.main_net import MainNet


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    """Base, for one module: what its tests leave there disturbs no other."""
    with open_net() as net:
        yield net


@pytest.fixture(scope="module")
def shop(net: MainNet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The service, whose test orders are paid on that chain."""
    with open_base_shop(tmp_path_factory.mktemp("chain-shop"), net) as shop:
        yield shop


@pytest.fixture
def wallet(net: MainNet) -> Iterator[TestWallet]:
    """The customer's wallet, for one test."""
    with open_wallet(net) as wallet:
        yield wallet

"""ERC-4626 vaults and wrapping contracts: which are taken up, with which limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.dexes import erc4626
from adapters.dexes.erc4626 import SOMEBODY, Erc4626
from adapters.dexes.native_wrap import TOTAL_SUPPLY, NativeWrapping
from routing_engine.markets import NativeWrap, Vault
from routing_engine.reference.chains import CHAINS
from tests.support.scripts import Script, adapter_of, token

ASSET, SHARE, OTHER = token(1, 6), token(2), token(3)
PRICE = 950_000 * 10**12
FOUND = Vault(
    id=f"1:{SHARE.address}",
    protocol="erc4626",
    asset=ASSET,
    share=SHARE,
    asset_price=PRICE,
    share_price=1_052_631,
    max_deposit=10**13,
    max_redeem=5 * 10**9 * 10**18 // 1_052_631,
)


@pytest.fixture
def script() -> Script:
    found = Script(ASSET, SHARE, OTHER)
    found.on(erc4626.ASSET(SHARE.address), ASSET.address)
    set_prices(found, PRICE, 1_052_631)
    found.on(erc4626.MAX_DEPOSIT(SHARE.address, SOMEBODY), 10**13)
    found.on(erc4626.BALANCE_OF(ASSET.address, SHARE.address), 5 * 10**9)
    return found


def set_prices(script: Script, shares: int, assets: int) -> None:
    for function in (erc4626.TO_SHARES, erc4626.PREVIEW_DEPOSIT):
        script.on(function(SHARE.address, 10**6), shares)
    for function in (erc4626.TO_ASSETS, erc4626.PREVIEW_REDEEM):
        script.on(function(SHARE.address, 10**18), assets)


def test_a_vault_is_found_and_its_price_followed(script):
    adapter, counting = adapter_of(script, Erc4626(1))
    assert adapter.parse(adapter.fetch()).markets == (FOUND,)
    script.mine()
    before = adapter.parse(adapter.fetch()).markets[0]
    assert counting.calls == 7
    set_prices(script, PRICE - 10**15, 1_053_000)
    script.mine()
    (after,) = adapter.parse(adapter.fetch()).markets
    assert (after.asset_price, after.share_price) == (PRICE - 10**15, 1_053_000)
    script.mine()
    assert adapter.parse(adapter.fetch()).markets[0] is after
    assert before == FOUND


def test_a_vault_that_pays_out_later_takes_deposits_only(script):
    script.on(erc4626.COOLDOWN(SHARE.address), 7 * 86_400)
    adapter, _ = adapter_of(script, Erc4626(1))
    assert adapter.parse(adapter.fetch()).markets == (replace(FOUND, max_redeem=0),)


@pytest.mark.parametrize("function", [erc4626.PREVIEW_DEPOSIT, erc4626.PREVIEW_REDEEM])
def test_a_vault_that_charges_is_refused(script, function):
    script.on(function(SHARE.address, 10**6 if function is erc4626.PREVIEW_DEPOSIT else 10**18), 900_000)
    adapter, _ = adapter_of(script, Erc4626(1))
    assert adapter.parse(adapter.fetch()).refused == {"erc4626:charges_fees": 1}


@pytest.mark.parametrize(("shares", "assets"), [(0, 1_052_631), (PRICE, 0), (2 * PRICE, 1_052_631)])
def test_a_vault_with_impossible_prices_is_refused(script, shares, assets):
    set_prices(script, shares, assets)
    adapter, _ = adapter_of(script, Erc4626(1))
    (reason,) = adapter.parse(adapter.fetch()).refused
    assert reason.startswith("erc4626:invalid_")


def test_the_wrapping_contract_is_there_or_not():
    chain = CHAINS[1]
    script = Script(chain.wrapped_native_token)
    script.on(TOTAL_SUPPLY(chain.wrapped_native), 10**24)
    adapter, _ = adapter_of(script, NativeWrapping(chain))
    assert adapter.parse(adapter.fetch()).markets == (NativeWrap.of(chain),)
    script.on(TOTAL_SUPPLY(chain.wrapped_native), 0)
    adapter, _ = adapter_of(script, NativeWrapping(chain))
    assert adapter.parse(adapter.fetch()).refused == {"wrap:unreadable": 1}
    adapter, _ = adapter_of(Script(ASSET), NativeWrapping(chain))
    assert adapter.parse(adapter.fetch()).refused == {}

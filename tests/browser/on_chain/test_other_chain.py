"""A wallet that holds dollars on another chain: from open to paid in one click, over a bridge with real contracts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import expect

from api.domain.env import EnvMode
from routing_engine import Snapshot
from routing_engine.markets import NativeWrap
from routing_engine.markets.bridges import across_lane
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.browser.chain_shop import ADDRESSES, GAS_PRICE, merchants_balance, open_chain_shop, pay_button
from tests.browser.conftest import Tab
from tests.browser.shop import Shop
from tests.browser.wallet import TestWallet
from tests.support.across import Relayers, fill
from tests.support.main_net import MainNet, running_main_net

BASE, OPTIMISM = 8453, 10
PRICE = 42_500_000
USDC, FAR_USDC = token_registry.token("USDC", BASE), token_registry.token("USDC", OPTIMISM)
LANE = across_lane(
    FAR_USDC, USDC, capital_fee_e18=10**14, lp_fee_e18=0, relayer_gas_fee=10_000, min_deposit=1,
    max_deposit=10**15, fill_time_s=4,
)  # fmt: skip


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(OPTIMISM) as optimism:
        base.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        yield {BASE: base, OPTIMISM: optimism}


@pytest.fixture(scope="module")
def shop(nets: Mapping[int, MainNet], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The service, whose orders are paid on those chains."""
    markets = (*nets[BASE].markets(), NativeWrap.of(CHAINS[OPTIMISM]), LANE)
    snapshot = Snapshot(markets, gas_prices=dict.fromkeys(nets, GAS_PRICE))
    folder = tmp_path_factory.mktemp("other-chain")
    with open_chain_shop(folder, nets, snapshot, Relayers(LANE, nets[OPTIMISM])) as shop:
        yield shop


@pytest.mark.rule("service.2")
def test_dollars_on_another_chain_pay_in_one_click(tab: Tab, nets: Mapping[int, MainNet]) -> None:
    far, near = nets[OPTIMISM], nets[BASE]
    wallet = TestWallet(far, is_connected=True, account=f"0x{next(ADDRESSES):040x}")
    wallet.knows |= {hex(OPTIMISM)}
    far.chain.rpc("anvil_impersonateAccount", wallet.account)
    far.fund(wallet.account, "USDC", 100_000_000)
    far.fund(wallet.account, "ETH", 10**17)
    wallet.inject(tab.page, "Rabby")
    page = tab.visit(tab.shop.real_order(EnvMode.TEST, address=f"0x{next(ADDRESSES):040x}"))
    expect(pay_button(page)).to_have_text(re.compile(r"^Pay\s≈\s42\.51\d+\sUSDC with .Rabby. \("))
    expect(page.locator("#review .quote")).to_contain_text("Optimism")
    expect(page.locator("#quote-total")).to_have_text(re.compile(r"^≈ 4\d\.\d\d USDC in all, fees \d\.\d\d$"))
    page.get_by_text("Details", exact=True).click()
    expect(page.locator("#review .quote")).to_contain_text("Moved to Base with Across on the way.")
    tab.inspect("other-chain")
    with page.expect_response("**/report") as reported:
        pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    fill(far, near, reported.value.request.post_data_json["hash"])
    assert merchants_balance(tab, near) == PRICE
    for net in nets.values():
        net.chain.mine(3)
    tab.work(rounds=4)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()

"""What tests of paying from a wallet share: one local chain with real contracts, and a shop that is paid on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from sqlalchemy import delete, select

from adapters.base import Declined, FirmQuote
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess, Firm
from api.services.ledger.chain_ledger import ChainLedger
from api.storage.tables import PaymentHint
from routing_engine import Hop, Snapshot
from tests.browser.conftest import Tab
from tests.browser.shop import Shop, open_shop
from tests.browser.wallet import PAYER, TestWallet
from tests.support.main_net import MainNet, running_main_net

CHAIN = 8453
PRICE = 42_500_000
GAS_PRICE = 10**9
ADDRESSES = count(0xB0B000)
"""Where merchants receive, each at its own."""


class NoBridge:
    """Confirms nothing: these payments stay on their chain."""

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        raise Declined("no bridge here", status=404)


@contextmanager
def open_net() -> Iterator[MainNet]:
    """Base with a pool, and a customer who has a little of everything."""
    with running_main_net(CHAIN) as net:
        net.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        net.chain.rpc("anvil_impersonateAccount", PAYER)
        yield net


@contextmanager
def open_chain_shop(
    folder: Path, nets: Mapping[int, MainNet], snapshot: Snapshot, firm: Firm | None = None
) -> Iterator[Shop]:
    """The service, whose orders are paid on those chains."""
    access = ChainAccess(
        chains={chain_id: PaymentChain(net.rpc()) for chain_id, net in nets.items()},
        builders=PaymentBuilders.load(),
        firm=firm or NoBridge(),
    )
    real = {
        "chain_access": dict.fromkeys(EnvMode, access),
        "ledgers": {mode: _open_ledger(nets) for mode in EnvMode},
    }
    start = datetime.fromtimestamp(max(net.chain.now() for net in nets.values()), UTC)
    with open_shop(folder, start=start, snapshot=snapshot, **real) as shop:
        yield shop


def _open_ledger(nets: Mapping[int, MainNet]) -> ChainLedger:
    return ChainLedger({chain_id: net.rpc() for chain_id, net in nets.items()}, is_rehearsal=True)


@contextmanager
def open_base_shop(folder: Path, net: MainNet) -> Iterator[Shop]:
    """The service, whose orders are paid on Base alone, and whose routes are that chain's pools."""
    with open_chain_shop(folder, {CHAIN: net}, Snapshot(net.markets(), gas_prices={CHAIN: GAS_PRICE})) as shop:
        yield shop


@contextmanager
def open_wallet(net: MainNet) -> Iterator[TestWallet]:
    """The customer's wallet, on another chain at first; the chain is put back afterwards."""
    before = net.chain.rpc("evm_snapshot")
    net.fund(PAYER, "ETH", 10**18)
    net.fund(PAYER, "WETH", 10**18)
    yield TestWallet(net)
    net.chain.rpc("evm_revert", before)


def choose(tab: Tab, symbol: str) -> Page:
    """Make an order, and choose a token on Base."""
    return choose_again(tab.visit(tab.shop.real_order(EnvMode.TEST, address=f"0x{next(ADDRESSES):040x}")), symbol)


def choose_again(page: Page, symbol: str) -> Page:
    """Choose a token on Base on a page that is open, instead of what is chosen already."""
    expect(page.get_by_role("heading", name=re.compile("^(Choose how to pay|Review and pay)$"))).to_be_visible()
    change = page.get_by_role("button", name="Change")
    if change.is_visible():
        change.press("Enter")
    page.get_by_role("button", name=re.compile(rf"^{symbol} ")).press("Enter")  # two quick taps at one place are one
    expect(page.locator("#pay-button")).to_be_visible()
    return page


def pay_button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile(r"^Pay (≈ )?[\d.]+ \w+( with .+)?$"))


def expect_problem(page: Page, text: str) -> None:
    expect(page.locator("#problem")).to_contain_text(text)


def merchants_balance(tab: Tab, net: MainNet) -> int:
    return net.balance(tab.shop.state(tab.order_id).settlement_address or "", "USDC")


def forget_reports(tab: Tab) -> None:
    """Forget what was reported for other orders; a hint does not say for which one it is."""
    with tab.shop.resources.database.write() as session:
        session.execute(delete(PaymentHint))


def reported(tab: Tab) -> list[tuple[int, str]]:
    query = select(PaymentHint).order_by(PaymentHint.tx_hash)
    with tab.shop.resources.database.read() as session:
        return [(row.chain_id, row.tx_hash) for row in session.scalars(query)]

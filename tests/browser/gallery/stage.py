"""Where states are made: the real service on simulated chains, and another one on a local chain with real contracts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from api.domain.env import EnvMode
from api.domain.simulation import Action
from api.services.simulator.actions import simulate
from tests.browser.chain_shop import ADDRESSES, open_base_shop, open_net
from tests.browser.conftest import Tab, open_tab
from tests.browser.contexts import Contexts
from tests.browser.meter import INTERACTIVE
from tests.browser.shop import Shop, open_shop
from tests.browser.wallet import PAYER, TestWallet
from tests.support.main_net import MainNet

SETTLED = """() => {
  const seen = (names) => [...document.querySelectorAll(names)].filter((each) => each.checkVisibility());
  return seen("#quote-loading, #tokens-loading").length === 0
    && seen("img").every((picture) => picture.complete)
    && seen("svg:has(> use)").every((drawing) => drawing.firstElementChild.getBBox().width > 0);
}"""
"""Nothing is a grey bar or a letter any more where an amount or a picture will be."""
IS_ONE_LINE = "(each) => each.clientHeight < 1.6 * parseFloat(getComputedStyle(each).lineHeight)"
FUNDS = {"USDC": 10**12, "WETH": 10**21, "ETH": 10**21}


@dataclass
class Stage:
    """The two services, each started when a state needs it.

    `wallet` is the customer's, on the local chain.
    """

    contexts: Contexts
    folder: Path
    resources: ExitStack
    tabs: list[Tab] = field(default_factory=list)

    @cached_property
    def simulated(self) -> Shop:
        """The shop whose orders are paid on simulated chains."""
        return self.resources.enter_context(open_shop(self._make_folder("simulated")))

    @cached_property
    def net(self) -> MainNet:
        """A local chain, on which the customer has a little of everything."""
        net = self.resources.enter_context(open_net())
        for symbol, amount in FUNDS.items():
            net.fund(PAYER, symbol, amount)
        return net

    @cached_property
    def chain(self) -> Shop:
        """The shop whose orders are paid on that chain."""
        return self.resources.enter_context(open_base_shop(self._make_folder("chain"), self.net))

    @cached_property
    def wallet(self) -> TestWallet:
        return TestWallet(self.net)

    def order(self, **changes: Any) -> str:
        """Make an order on simulated chains."""
        return self.simulated.order(**changes)

    def order_after(self, action: Action, *, looks: int = 0, seconds: float = 1, **changes: Any) -> str:
        """Make an order on simulated chains to which something happens, and let the worker look so often."""
        order_id = self.order(**changes)
        self.act(order_id, action, looks=looks, seconds=seconds)
        return order_id

    def act(self, order_id: str, action: Action, *, looks: int = 0, seconds: float = 1) -> None:
        """Let something happen to an order on simulated chains."""
        simulate(self.simulated.resources, order_id, action)
        self.simulated.work(seconds, rounds=looks)

    def chain_order(self, **changes: Any) -> str:
        """Make an order that is paid on the local chain."""
        return self.chain.real_order(EnvMode.TEST, address=f"0x{next(ADDRESSES):040x}", **changes)

    def open(self, shop: Shop, **settings: Any) -> Tab:
        """Open a tab for a customer of a shop."""
        self.tabs.append(open_tab(self.contexts, shop, **settings))
        return self.tabs[-1]

    def close_tabs(self) -> None:
        """Close what is open, so that the next picture is of a new customer's browser."""
        for tab in self.tabs:
            tab.close()
        self.tabs.clear()

    def _make_folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder


@contextmanager
def open_stage(contexts: Contexts, folder: Path) -> Iterator[Stage]:
    """Give a stage, and end what it started."""
    with ExitStack() as resources:
        stage = Stage(contexts=contexts, folder=folder, resources=resources)
        yield stage
        stage.close_tabs()


@dataclass(frozen=True)
class State:
    """One state of the page.

    Parameters
    ----------
    name, title : str
        For files and for people.
    make : callable
        Brings an order into the state through the service, and returns its id; once for all looks, or for each where
        the customer does something then.
    then : callable, optional
        What the customer does on the page; once for each look that has scripts. It must work in every language.
    awaits : str
        What scripts bring by themselves.
    on_chain : bool
        Whether the order is paid on the local chain.
    wallet : str
        The name of a wallet in the browser; empty for none.
    holds : str
        A request to the wallet which nobody answers.
    has_scripts : bool
        Whether the page has any.
    expects : str
        What the console says there.
    locale : str
        Of the customer's browser; empty for English, or what the look says.
    """

    name: str
    title: str
    make: Callable[[Stage], str]
    then: Callable[[Page], None] | None = None
    awaits: str = "body"
    on_chain: bool = False
    wallet: str = ""
    holds: str = ""
    has_scripts: bool = True
    expects: str = ""
    locale: str = ""

    def visit(self, stage: Stage, order_id: str, **settings: Any) -> Tab:
        """Open the page in this state, in a browser of its own, and wait until nothing is on its way any more."""
        settings |= {"locale": self.locale} if self.locale else {}
        tab = stage.open(stage.chain if self.on_chain else stage.simulated, **settings)
        tab.expected += [self.expects] if self.expects else []
        if self.wallet:
            stage.wallet.holds = {self.holds} - {""}
            stage.wallet.inject(tab.page, self.wallet)
        page = tab.visit(order_id)
        if self.has_scripts and settings.get("java_script_enabled", True):
            page.wait_for_function(INTERACTIVE)
            expect(page.locator(self.awaits)).to_be_visible()
            if self.then:
                self.then(page)
            page.wait_for_function(SETTLED)
        return tab


CATALOGUE: list[State] = []


def state(title: str, **how: Any) -> Callable[[Callable[[Stage], str]], Callable[[Stage], str]]:
    """Add the function below to the states of the page, under its own name."""

    def add(make: Callable[[Stage], str]) -> Callable[[Stage], str]:
        CATALOGUE.append(State(make.__name__.replace("_", "-"), title, make, **how))
        return make

    return add


def choose(symbol: str) -> Callable[[Page], None]:
    """Return how a customer chooses the first token of this name."""

    def act(page: Page) -> None:
        expect(page.locator("#choose, #review").filter(visible=True).first).to_be_visible()
        if page.locator("#change").is_visible():
            page.locator("#change").press("Enter")
        name = page.locator(".token-symbol", has_text=re.compile(f"^{symbol}$"))
        page.locator("#tokens .token").filter(has=name).first.press("Enter")
        expect(page.locator("#pay-button")).to_be_visible()

    return act


def pay_with(symbol: str, until: str) -> Callable[[Page], None]:
    """Return how a customer pays with a token, and what is seen then."""

    def act(page: Page) -> None:
        choose(symbol)(page)
        page.locator("#pay-button").click()
        expect(page.locator(until)).to_be_visible()

    return act


def click(selector: str, until: str = "body") -> Callable[[Page], None]:
    """Return how a customer clicks something, and what is seen then."""

    def act(page: Page) -> None:
        page.locator(selector).click()
        expect(page.locator(until)).to_be_visible()

    return act


def lose_connection(page: Page) -> None:
    """Take the connection away from one page; others of its context keep theirs."""
    page.route("**/*", lambda route: route.abort())
    page.evaluate("() => window.dispatchEvent(new Event('offline'))")
    expect(page.locator("#offline")).to_be_visible()
    assert page.locator("#offline").evaluate(IS_ONE_LINE), "it has room for one line"


def unfold(selector: str) -> Callable[[Page], None]:
    """Return how a customer unfolds something, where it is folded."""

    def act(page: Page) -> None:
        if page.locator(selector).is_visible():
            page.locator(selector).click()

    return act

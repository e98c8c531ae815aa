"""The states of the page, in the order in which a customer meets them. Each is a function of a few lines.

A function brings an order into its state through the real service and returns the order's id. What a customer does on
the page after that stands in ``then``.
"""

from __future__ import annotations

from datetime import timedelta

from api.domain.env import EnvMode
from api.domain.simulation import Action
from api.services.orders.commands import cancel, refund
from api.services.orders.refunds import RefundRequest
from tests.browser.gallery.logo import draw_logo
from tests.browser.gallery.stage import CATALOGUE, Stage, choose, click, lose_connection, pay_with, state, unfold

__all__ = ["CATALOGUE"]

MANY = tuple({"title": f"Single-origin tea no. {n}", "quantity": n} for n in range(1, 9))
LONG = {"title": "Gift box", "quantity": 1, "description": "Six teas of the spring, each in a tin of its own. " * 9}
PRICED = (
    {
        "title": "Darjeeling, first flush",
        "quantity": 2,
        "description": "100 g, whole leaf, picked in March",
        "unit_price": {"amount": 1075, "decimals": 2},
    },
    {"title": "Teapot", "quantity": 1, "unit_price": {"amount": 21, "decimals": 0}},
)
HUGE = {"currency": "USDC", "amount": 2**256 - 1, "decimals": 36}
SEND = "eth_sendTransaction"
ASKED = "#wallet-progress >> text=/^\\D*1.*2/"
"""The first of two questions, in every language."""


@state("Open: the best way to pay is chosen", awaits="#pay-button")
def opened(stage: Stage) -> str:
    return stage.order()


@state("Open: all ways to pay", then=click("#change", until="#networks"))
def listed(stage: Stage) -> str:
    return stage.order()


@state("A token is chosen, its price is held", then=choose("ETH"))
def quoted(stage: Stage) -> str:
    return stage.order()


@state("There is no connection", awaits="#pay-button", then=lose_connection, expects="Failed to load resource")
def no_connection(stage: Stage) -> str:
    return stage.order()


@state("Many items, a long price")
def long_order(stage: Stage) -> str:
    return stage.order(line_items=MANY, order_price={**HUGE, "amount": 10**24 + 1, "decimals": 18})


@state("Open: paid from a wallet, which is there", on_chain=True, wallet="Rabby")
def wallet(stage: Stage) -> str:
    return stage.chain_order()


@state("Open: paid from a wallet, and there is none", on_chain=True)
def no_wallet(stage: Stage) -> str:
    return stage.chain_order()


@state("A price to pay from the wallet", on_chain=True, wallet="Rabby", then=choose("WETH"))
def wallet_quoted(stage: Stage) -> str:
    return stage.chain_order()


@state("The wallet asks", on_chain=True, wallet="Rabby", holds=SEND, then=pay_with("WETH", ASKED))
def wallet_asks(stage: Stage) -> str:
    return stage.chain_order()


@state("What the test controls do", then=click("#test-controls summary"))
def test_controls(stage: Stage) -> str:
    return stage.order()


@state("Payment sent", then=pay_with("USDC", "#progress-title"))
def sent(stage: Stage) -> str:
    return stage.order()


@state("Payment on its way")
def on_its_way(stage: Stage) -> str:
    return stage.order_after(Action.PAY, looks=1)


@state("A bridge takes its time")
def slow_bridge(stage: Stage) -> str:
    return stage.order_after(Action.BRIDGE_DELAY, looks=2)


@state("Leaving while a payment is on its way", then=click("#cancel"))
def leaving(stage: Stage) -> str:
    return stage.order_after(Action.PAY, looks=1)


@state("Paid")
def paid(stage: Stage) -> str:
    return stage.order_after(Action.PAY, looks=4, seconds=10)


@state("Paid too much")
def overpaid(stage: Stage) -> str:
    return stage.order_after(Action.OVERPAY, looks=4, seconds=10)


@state("Part of the payment is missing")
def underpaid(stage: Stage) -> str:
    return stage.order_after(Action.UNDERPAY, looks=2)


@state("Leaving after a part was paid", then=click("#cancel"))
def leaving_short(stage: Stage) -> str:
    return stage.order_after(Action.UNDERPAY, looks=2)


@state("Another token came")
def wrong_token(stage: Stage) -> str:
    return stage.order_after(Action.WRONG_TOKEN, looks=2)


@state("The payment was undone")
def undone(stage: Stage) -> str:
    return stage.order_after(Action.REORG, looks=4)


@state("The bridge gave the payment back")
def bridge_failed(stage: Stage) -> str:
    return stage.order_after(Action.BRIDGE_FAIL, looks=8, seconds=4)


@state("Expired")
def expired(stage: Stage) -> str:
    return stage.order_after(Action.EXPIRE)


@state("Expired, and the customer has paid", then=click("#i-paid"))
def expired_but_paid(stage: Stage) -> str:
    return stage.order_after(Action.EXPIRE)


@state("Paid late, and accepted")
def paid_late(stage: Stage) -> str:
    order_id = stage.order_after(Action.EXPIRE)
    stage.act(order_id, Action.PAY_LATE, looks=4, seconds=10)
    return order_id


@state("Expired with a part of the payment")
def failed(stage: Stage) -> str:
    order_id = stage.order_after(Action.UNDERPAY, looks=2)
    stage.act(order_id, Action.EXPIRE)
    return order_id


@state("Cancelled by the merchant")
def cancelled(stage: Stage) -> str:
    order_id = stage.order()
    cancel(stage.simulated.resources, stage.simulated.state(order_id).vendor_id, EnvMode.TEST, order_id)
    return order_id


@state("Refunded")
def refunded(stage: Stage) -> str:
    order_id = stage.order_after(Action.PAY, looks=4, seconds=10)
    vendor_id = stage.simulated.state(order_id).vendor_id
    refund(stage.simulated.resources, vendor_id, EnvMode.TEST, order_id, RefundRequest(), by="key_of_the_shop")
    stage.simulated.work(timedelta(seconds=10).total_seconds(), rounds=2)
    return order_id


@state("Live, where live payments are off")
def live(stage: Stage) -> str:
    return stage.simulated.real_order()


@state("The merchant has nowhere to receive")
def not_payable(stage: Stage) -> str:
    return stage.simulated.order_without_account()


@state("In the merchant's own look", awaits="#pay-button")
def branded(stage: Stage) -> str:
    order_id = stage.order(line_items=PRICED)
    texts = {"display_name": "Kyoto Tea House", "accent_color": "#0a7d5a", "support": "help@tea.example"}
    stage.simulated.dress(order_id, logo=draw_logo(), **texts)
    return order_id


@state("In German", locale="de-DE", then=click("#change", until="#networks"))
def german(stage: Stage) -> str:
    return stage.order()


@state("In German: long words and addresses", locale="de-DE")
def german_words(stage: Stage) -> str:
    return stage.order_after(Action.BRIDGE_FAIL, looks=8, seconds=4)


@state("In Spanish", locale="es-ES")
def spanish(stage: Stage) -> str:
    return stage.order_after(Action.PAY, looks=4, seconds=10)


@state("In Chinese", locale="zh-CN", awaits="#pay-button")
def chinese(stage: Stage) -> str:
    return stage.order()


@state("Long texts of a merchant", then=unfold(".details-toggle"))
def long_texts(stage: Stage) -> str:
    return stage.order(line_items=(LONG, *PRICED))


@state("No such order", has_scripts=False, expects="404")
def not_found(_: Stage) -> str:
    return "po_01unknown"

"""A shop that sells one thing, and is paid by the checkout service.

It takes five settings: CHECKOUT_URL and CHECKOUT_API_KEY, where it is itself (SHOP_URL), what its owner signs in with
(SHOP_PASSWORD) and, once `flask subscribe` has printed it, what signs the webhooks (WEBHOOK_SECRET).
"""

import hmac
import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

from crosschain_checkout_client import CheckoutClient, WebhookRefused, verify_webhook
from crosschain_checkout_client.errors import Conflict, KeyReused, NotFound
from crosschain_checkout_client.models import PaymentOrder
from flask import Flask, Response, abort, redirect, render_template_string, request

SHOP_URL = os.environ.get("SHOP_URL", "http://127.0.0.1:5000")
DATABASE = os.environ.get("SHOP_DATABASE", "shop.db")
TITLE, PRICE = "Teapot", {"currency": "USDC", "amount": 2500, "decimals": 2}  # 25.00 USDC
TABLE = """
CREATE TABLE IF NOT EXISTS orders (
    cart TEXT PRIMARY KEY, payment_order_id TEXT UNIQUE, payment_url TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'created', changed_at REAL NOT NULL DEFAULT 0, delivered INTEGER NOT NULL DEFAULT 0)
"""
PAGE = """
<!doctype html><meta name="viewport" content="width=device-width"><title>{{ title }}</title>
<h1>{{ title }}</h1>{% if cart %}<p>Your order is <b>{{ order["status"] }}</b>.
{% if order["status"].startswith("refunded") %}What you paid was sent back.
{% elif order["delivered"] %}It is on its way to you.{% else %}This page looks again by itself.
<meta http-equiv="refresh" content="2">{% endif %}</p>
{% else %}<form method="post" action="/buy"><input type="hidden" name="cart" value="{{ new_cart }}">
<p>25 USDC, in any token on any chain</p><button>Buy</button></form>{% endif %}
"""

app = Flask(__name__)
checkout = CheckoutClient(os.environ["CHECKOUT_URL"], os.environ["CHECKOUT_API_KEY"])


@contextmanager
def open_database() -> Iterator[sqlite3.Connection]:
    """Open the shop's orders, for one at a time; what is done with them is kept once all of it is done."""
    with closing(sqlite3.connect(DATABASE, timeout=10, isolation_level=None)) as database, database:
        database.row_factory = sqlite3.Row
        database.execute("BEGIN IMMEDIATE")
        database.execute(TABLE)
        yield database


def find_order(cart: str) -> sqlite3.Row | None:
    """Return what the shop knows of a cart that somebody wanted to buy."""
    with open_database() as database:
        return database.execute("SELECT * FROM orders WHERE cart = ?", [cart]).fetchone()


@app.get("/")
def show_product() -> str:
    """Offer the thing; the number of the cart makes two clicks one order."""
    return render_template_string(PAGE, title=TITLE, new_cart=uuid.uuid4().hex)


@app.post("/buy")
def buy() -> Response:
    """Make a payment link and send the customer there. The price is the shop's, whatever the form says."""
    try:
        cart = uuid.UUID(request.form.get("cart", "")).hex
    except ValueError:
        abort(400)
    if known := find_order(cart):  # idempotency keys are kept for a day, this is kept for good
        return redirect(known["payment_url"], 303)
    back = f"{SHOP_URL}/orders/{cart}"
    link = checkout.payment_links.create(
        idempotency_key=f"cart-{cart}",
        line_items=[{"title": TITLE, "quantity": 1}],
        order_price=PRICE,
        env_mode="test",
        success_callback_url=back,
        cancel_callback_url=f"{SHOP_URL}/",
        failure_callback_url=back,
        metadata={"cart": cart},
    )
    with open_database() as database:
        row = (cart, link.payment_order_id, link.payment_url)
        database.execute("INSERT OR IGNORE INTO orders (cart, payment_order_id, payment_url) VALUES (?, ?, ?)", row)
    return redirect(link.payment_url, 303)


@app.get("/orders/<cart>")
def show_order(cart: str) -> str:
    """Say what the shop knows. Anybody can open this address, so that somebody did proves no payment."""
    order = find_order(cart) or abort(404)
    return render_template_string(PAGE, title=TITLE, cart=cart, order=order)


@app.post("/webhooks")
def receive() -> tuple[str, int]:
    """Hear that an order has changed. An event may come twice, or late: it says where to look, not what to believe."""
    try:
        received = verify_webhook(request.get_data(), request.headers, os.environ["WEBHOOK_SECRET"])
    except WebhookRefused as error:
        return str(error), 400
    update(received.event.data.payment_order_id)
    return "", 204


def update(order_id: str) -> None:
    """Bring an order up to date, and deliver it once it is paid: once, however often this is called."""
    try:
        order = checkout.orders.get(order_id)  # before the transaction: it may take a minute, and others would wait
    except NotFound:  # the sample of a test event
        return
    is_paid = order.payment_order_status == "success" and order.status_reason != "reorged"
    status = " ".join(filter(None, (order.payment_order_status, order.status_reason)))
    changed_at = order.updated_at.timestamp()
    newer = "UPDATE orders SET status = ?, changed_at = ? WHERE payment_order_id = ? AND changed_at <= ?"
    first = "UPDATE orders SET delivered = 1 WHERE payment_order_id = ? AND delivered = 0"
    with open_database() as database:
        if not database.execute(newer, [status, changed_at, order_id, changed_at]).rowcount:
            return  # while this one was waiting, another has read what came later
        if is_paid and database.execute(first, [order_id]).rowcount:
            deliver(order.metadata["cart"])


def deliver(cart: str) -> None:
    """Send the goods. If this fails, `delivered` is not kept either, and the next delivery of the event tries again."""
    app.logger.warning("deliver %s", cart)


@app.post("/orders/<cart>/refund")
def refund(cart: str) -> tuple[dict[str, object], int]:
    """Send everything back, or with `only=excess` what is more than the price: for the shop's owner."""
    given = request.authorization.password if request.authorization else None
    if not hmac.compare_digest((given or "").encode(), os.environ["SHOP_PASSWORD"].encode()):
        abort(Response("Sign in", 401, {"WWW-Authenticate": "Basic"}))
    row = find_order(cart) or abort(404)
    order = checkout.orders.get(row["payment_order_id"])
    keep = order.settlement.amount if request.form.get("only") == "excess" else 0
    try:
        for transfer, left, amount in list_returns(order, keep):
            # What is left of it names the refund: a second click at once is the same one, and a later one another.
            key = f"refund-{transfer}-{left}"
            order = checkout.orders.refund(
                order.payment_order_id, transfer=transfer, amount=amount, idempotency_key=key
            )
    except (Conflict, KeyReused) as error:  # the chain could still lose it, or somebody else has just asked
        return {"message": str(error)}, 409
    refunds = [{"to": each.to, "amount": str(each.amount), "status": each.status} for each in order.refunds]
    return ({"refunds": refunds}, 200) if refunds else ({"message": "Nothing came that could go back"}, 409)


def list_returns(order: PaymentOrder, keep: int) -> Iterator[tuple[str, int, int]]:
    """Yield each transfer of which something goes back, what is left of it, and how much goes; the first ones stay."""
    due = order.settlement
    for each in order.transfers:
        is_right = (each.chain_id, each.token.lower()) == (due.chain_id, due.token_address.lower())
        kept = min(keep, each.amount_left) if is_right else 0
        keep -= kept
        if each.amount_left > kept:
            yield each.id, each.amount_left, each.amount_left - kept


@app.cli.command("catch-up")
def catch_up() -> None:
    """Read what no webhook brought, as while the shop was down: whenever it starts, and once an hour."""
    recent = checkout.events.list(since=datetime.now(UTC) - timedelta(days=1))
    for order_id in {each.event.data.payment_order_id for each in recent} - {""}:  # empty: about no order
        update(order_id)


@app.cli.command("subscribe")
def subscribe() -> None:
    """Have the events sent here, once; prints the secret that WEBHOOK_SECRET has to be, a new one each time."""
    hooks, address = checkout.webhooks, f"{SHOP_URL}/webhooks"
    events = ["payment_processing", "payment_success", "payment_failed", "payment_refunded"]
    known = [each.webhook_id for each in hooks.list(env_mode="test") if each.webhook_url == address]
    new = {"webhook_url": address, "env_mode": "test", "events": events}
    print((hooks.rotate_secret(known[0]) if known else hooks.create(**new)).secret)  # a second brings every event twice

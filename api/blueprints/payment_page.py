"""The checkout page, and the answers that its scripts ask for; the order's id is all that a customer needs."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, request

from api.bodies.errors import build_refusal_envelope
from api.bodies.event_stream import begin_news
from api.checkout_page.devices import draw_code
from api.checkout_page.language.languages import choose_strings, mark_language
from api.checkout_page.page import build_page, leave_moment_out
from api.checkout_page.paying.claims import claim_text, describe_offers, explain_refusal
from api.checkout_page.paying.options import describe_options
from api.checkout_page.paying.payments import describe_payment, describe_shortage
from api.checkout_page.paying.quotes import describe_choices, quote_json
from api.checkout_page.requests import bodies
from api.checkout_page.status.state import PageState, build_state
from api.context import get_resources
from api.domain.simulation import Action
from api.schemas.orders.payments import SimulateSchema
from api.services.checkout.journey import list_stages
from api.services.checkout.money_seen import MoneySeen, load_order_and_money
from api.services.checkout.options import PaymentOptions, Standing, list_options
from api.services.checkout.payable_tokens import list_payable_tokens, list_unseen_chains
from api.services.checkout.quotes import OrderQuoteRefused, get_order_quote, quote_order
from api.services.checkout.transactions import Shortage, build_payment
from api.services.orders.order_versions import require_version
from api.services.orders.views import PublicOrder, load_public_order
from api.services.settlement.claims.signed_claims import ClaimRefused, prepare_claims, submit_claim
from api.services.settlement.traces import list_chains_without_traces
from api.services.settlement.watching.reported_payments import report_payment
from api.services.simulator.actions import simulate
from api.web.kept_pages import answer_with_page
from api.web.page_problems import show_astray, show_problem, write_policy
from api.web.page_templates import render
from api.web.static_files import send_if_changed, tag_content

ASK_FIRST = "private, no-cache"
"""A browser may keep the answer, and asks each time whether it is still the right one."""


blueprint = Blueprint("payment_page", __name__, url_prefix="/payment/<order_id>")
blueprint.after_app_request(show_astray)


@blueprint.get("")
def page(order_id: str) -> Response:
    """Show an order, to be paid or to see what became of it."""
    shared, texts = get_resources(), choose_strings(request)
    order, money, state = _load(order_id)
    shown = leave_moment_out(build_page(order, money, state, texts, shared.config.base_url))
    write = partial(render, "payment.html", texts, page=shown)
    response = answer_with_page((order_id, texts.tag), (texts, request.script_root, shown), write)
    response.headers["Content-Security-Policy"] = write_policy()
    return response


@blueprint.get("/status")
def status(order_id: str) -> dict[str, Any]:
    """Say where the order stands."""
    _, _, state = _load(order_id, request.args.get("quote"))
    return state.json()


@blueprint.get("/events")
def events(order_id: str) -> Response:
    """Stream that there is something new about the order; what it is, `status` says."""
    return begin_news(require_version(get_resources(), order_id), request.headers.get("Last-Event-ID"))


@blueprint.get("/code.svg")
def code(order_id: str) -> Response:
    """Draw the page's address, for a phone to scan from another screen."""
    shared = get_resources()
    require_version(shared, order_id)
    return Response(draw_code(f"{shared.config.base_url}/payment/{order_id}"), mimetype="image/svg+xml")


@blueprint.get("/tokens")
def tokens(order_id: str) -> dict[str, Any]:
    """List what the order can be paid with."""
    return describe_choices(list_payable_tokens(get_resources(), order_id), choose_strings(request))


@blueprint.post("/options")
def options(order_id: str) -> dict[str, Any]:
    """List the ways to pay, best first, beside what a wallet holds."""
    shared = get_resources()
    asked = bodies.read(request, shared.config.base_url, bodies.OptionsBody)
    told = {(row["chain_id"], row["token_address"].lower()): row["amount"] for row in asked.get("held", ())}
    found = list_options(shared, order_id, asked.get("account"), told)
    held = {"quote": _hold_best(found)} if asked.get("holds_best") else {}
    unseen = list_unseen_chains(shared, found.order)
    return describe_options(found, unseen, choose_strings(request)) | held


@blueprint.post("/quote")
def quote(order_id: str) -> dict[str, Any]:
    """Hold a price for a minute."""
    shared = get_resources()
    chosen = bodies.read(request, shared.config.base_url, bodies.QuoteBody)
    return _hold_price(order_id, chosen["chain_id"], chosen["token_address"])


@blueprint.post("/pay")
def pay(order_id: str) -> dict[str, Any]:
    """Pay a test order from the test wallet, as its quote says."""
    shared = get_resources()
    agreed = bodies.read(request, shared.config.base_url, bodies.PayBody)
    get_order_quote(shared, order_id, agreed["quote_id"])
    simulate(shared, order_id, Action.PAY, quote_id=agreed["quote_id"])
    _, _, state = _load(order_id, agreed["quote_id"])
    return state.json()


@blueprint.post("/transactions")
def transactions(order_id: str) -> dict[str, Any]:
    """Give a wallet what it signs, as a quote says; nothing is sent by that."""
    shared = get_resources()
    wallet = bodies.read(request, shared.config.base_url, bodies.WalletBody)
    return describe_payment(
        build_payment(shared, order_id, wallet["quote_id"], wallet["payer"]), choose_strings(request)
    )


@blueprint.post("/report")
def report(order_id: str) -> dict[str, Any]:
    """Note where to look for a transaction that a wallet has sent; the same again changes nothing."""
    shared = get_resources()
    sent = bodies.read(request, shared.config.base_url, bodies.ReportBody)
    report_payment(shared, order_id, **sent)
    return status(order_id)


@blueprint.post("/simulate")
def simulate_action(order_id: str) -> dict[str, Any]:
    """Let something else happen to a test order."""
    shared = get_resources()
    body = bodies.read(request, shared.config.base_url, SimulateSchema)
    simulate(shared, order_id, Action(body["action"]))
    return status(order_id)


@blueprint.get("/claim")
def claims(order_id: str) -> dict[str, Any]:
    """List what a wallet may sign to prove that a transaction paid the order from its money."""
    shared = get_resources()
    asked = bodies.read_query(request, bodies.ClaimQuery)
    offers = prepare_claims(shared, order_id, **asked)
    merchant = load_public_order(shared, order_id).vendor_name
    return describe_offers(offers, merchant, asked["chain_id"], choose_strings(request))


@blueprint.post("/claim")
def claim(order_id: str) -> dict[str, Any]:
    """Take a wallet's signature that a transfer of its money pays the order."""
    shared = get_resources()
    signed = bodies.read(request, shared.config.base_url, bodies.ClaimBody)
    submit_claim(shared, order_id, **signed)
    _, money, state = _load(order_id)
    text = claim_text(money, signed["chain_id"], signed["tx_hash"], choose_strings(request))
    return {**state.json(), "claim_text": text}


COSTLY = frozenset(view.__name__ for view in (options, transactions, claim))
"""They search many routes or ask chains, so they are counted as routing is."""
_KEPT = frozenset(f"{blueprint.name}.{view.__name__}" for view in (page, code, tokens))


@blueprint.errorhandler(OrderQuoteRefused)
def without_quote(error: OrderQuoteRefused) -> tuple[dict[str, Any], int]:
    """Refuse what was asked for on its own."""
    return _describe_refusal(error), HTTPStatus.CONFLICT


@blueprint.errorhandler(ClaimRefused)
def without_claim(error: ClaimRefused) -> tuple[dict[str, Any], int]:
    """Refuse with the reason in a word, and in a sentence for the customer."""
    order = load_public_order(get_resources(), (request.view_args or {})["order_id"])
    told = {"reason": error.reason, "explanation": explain_refusal(error, order, choose_strings(request))}
    return {**build_refusal_envelope(error), **told}, HTTPStatus.CONFLICT


@blueprint.after_request
def for_people(response: Response) -> Response:
    """Show what is wrong as a page where a page was asked for, and say what a browser may keep to ask for again."""
    is_page = request.endpoint == f"{blueprint.name}.{page.__name__}"
    if is_page and response.status_code >= HTTPStatus.BAD_REQUEST:
        show_problem(response)
    is_kept = request.endpoint in _KEPT and response.status_code == HTTPStatus.OK
    response.headers["Cache-Control"] = ASK_FIRST if is_kept else "no-store"
    is_secure = get_resources().config.base_url.startswith("https:")
    mark_language(request, response, keeps_choice=is_page, is_secure=is_secure)
    if is_kept:
        tag_content(response)
        send_if_changed(response)
    return response


def _hold_price(order_id: str, chain_id: int, token_address: str) -> dict[str, Any]:
    shared = get_resources()
    held = quote_order(shared, order_id, chain_id, token_address)
    order = load_public_order(shared, order_id)
    with shared.database.read() as session:
        untraced = list_chains_without_traces(session, order.env_mode)
    return quote_json(held, order, shared.clock.now(), choose_strings(request), untraced)


def _hold_best(found: PaymentOptions) -> dict[str, Any] | None:
    """Hold the price of the first way to pay, or say why not; None where the wallet can't pay so."""
    best = next(iter(found.options), None)
    if best is None or best.standing != Standing.ENOUGH:
        return None
    try:
        return _hold_price(found.order.order_id, best.choice.token.chain_id, best.choice.token.address)
    except OrderQuoteRefused as error:
        return {"refused": _describe_refusal(error)}


def _describe_refusal(error: OrderQuoteRefused) -> dict[str, Any]:
    """Say what is wrong, with the reason in a word, which the scripts act on, and in a sentence for the customer."""
    strings = choose_strings(request)
    more = (
        describe_shortage(error, strings)
        if isinstance(error, Shortage)
        else {"explanation": strings.refusal[error.reason]}
    )
    return {**build_refusal_envelope(error), "reason": error.reason, **more}


def _load(order_id: str, quote_id: str | None = None) -> tuple[PublicOrder, MoneySeen, PageState]:
    """Return an order, its money, and what the page shows of both; `quote_id` is what a payer has just paid by."""
    shared = get_resources()
    order, money = load_order_and_money(shared, order_id, quote_id)
    stages = list_stages(shared, order, money)
    return order, money, build_state(order, money, shared.clock.now(), choose_strings(request), stages)

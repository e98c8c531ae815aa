"""The transactions that pay an order from a customer's wallet, as its quote says; tried out before they are offered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from adapters.base import AdapterError
from adapters.transactions.base import CannotBuild, PaymentCall, PlannedHop, Terms, Transaction
from adapters.transactions.payment_builders import append_reference, list_transactions
from adapters.transactions.simulation import PaymentChain, Simulation, WouldFail
from api.domain.env import EnvMode
from api.domain.errors import ServiceUnavailable
from api.services.chains.chain_access import ChainAccess
from api.services.chains.screening import is_rejected
from api.services.chains.trials import (
    BridgeAsksMore,
    confirm_bridge,
    find_bridge,
    is_swapped,
    list_needs,
    read_allowances,
)
from api.services.chains.waiting_room import SCREEN
from api.services.checkout.quote import OrderQuote
from api.services.checkout.quotes import (
    OrderQuoteRefusal,
    OrderQuoteRefused,
    get_order_quote,
    require_due,
    require_read,
)
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.services.settlement.crediting.built_deposits import describe_build, remember_build
from api.services.settlement.crediting.quote_payers import remember_payer
from routing_engine import Token
from routing_engine.fixed_point import mul_div_up

SIGNING_TIME = timedelta(minutes=20)
"""How long contracts accept what a wallet has signed; the quote itself holds for a minute."""
RETRY_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SignablePayment:
    """What a wallet signs to pay an order.

    Parameters
    ----------
    quote : OrderQuote
        What it pays as.
    env_mode : EnvMode
        The order's.
    payer : str
        Whose wallet, in lower case.
    transactions : tuple of Transaction
        In order. What has no gas limit yet is tried once those before it are mined: ask again then.
    amount_in_max : int
        The most that they take of the quote's token, smallest units; gas not counted.
    has_reference : bool
        Whether the payment names its order; one that does not has to be reported.
    """

    quote: OrderQuote
    env_mode: EnvMode
    payer: str
    transactions: tuple[Transaction, ...]
    amount_in_max: int
    has_reference: bool


class Shortage(OrderQuoteRefused):
    """A wallet has `held` of a token, and `needed` is needed; smallest units."""

    def __init__(self, token: Token, held: int, needed: int) -> None:
        super().__init__(
            OrderQuoteRefusal.TOO_LITTLE, f"The wallet has too little {token.symbol} on chain {token.chain_id}"
        )
        self.token, self.held, self.needed = token, held, needed


def build_payment(resources: Resources, order_id: str, quote_id: str, payer: str) -> SignablePayment:
    """Return the transactions that pay an order as a quote of it says.

    Bridges are asked once more, for the very amount and addresses; what they confirm is what is built.

    Parameters
    ----------
    payer : str
        Address of the wallet, in lower case.

    Raises
    ------
    NotFound
        If there is no such order, or no such quote for it.
    OrderQuoteRefused
        If the quote has expired, the order takes no payment, nobody reads the chain just now, the price does not hold
        any more, the wallet has too little or is not accepted, or the payment would fail.
    ServiceUnavailable
        If the chain or the bridge does not answer, or too many wait for it.
    """
    order = load_public_order(resources, order_id)
    quote = get_order_quote(resources, order_id, quote_id)
    access = resources.chain_access.get(order.env_mode)
    if access is None or quote.chain_id not in access.chains:
        raise OrderQuoteRefused(
            OrderQuoteRefusal.NOT_PAYABLE, "This order is not paid from a wallet: its chains are simulated"
        )
    _, due = require_due(resources, order)
    require_read(resources, order, quote.chain_id)
    if due != quote.amount_out:
        raise OrderQuoteRefused(OrderQuoteRefusal.EXPIRED, "Another amount is due by now; ask for a new quote")
    _require_accepted(resources, payer)
    terms = _make_terms(resources, order, quote, payer)
    try:
        with resources.waiting_room.enter(quote.chain_id):
            hops, terms = _confirm_hops(access, quote, terms)
            token, chain = _make_token(quote), access.chains[quote.chain_id]
            call = access.builders.build(hops, token, terms)
            _require_funds(chain, call, token, terms)
            payment = _try_payment(chain, order, quote, call, terms)
        _remember(resources, hops, quote, terms, call)
        return payment
    except CannotBuild as error:
        raise OrderQuoteRefused(OrderQuoteRefusal.NO_ROUTE, f"The payment can't be built: {error}") from error
    except WouldFail as error:
        raise OrderQuoteRefused(OrderQuoteRefusal.WOULD_FAIL, f"The payment would fail now: {error}") from error
    except AdapterError as error:
        raise ServiceUnavailable("The chain or the bridge does not answer; try again", retry_after_s=RETRY_S) from error


def _require_accepted(resources: Resources, payer: str) -> None:
    """Refuse a wallet that the operator's screen rejects, before it has sent anything."""
    if is_rejected(resources.screen, resources.waiting_room.enter(SCREEN), payer):
        raise OrderQuoteRefused(OrderQuoteRefusal.REJECTED, "Payments from this wallet are not accepted")


def _make_terms(resources: Resources, order: PublicOrder, quote: OrderQuote, payer: str) -> Terms:
    deadline = min(resources.clock.now() + SIGNING_TIME, order.pay_until)
    return Terms(
        payer=payer,
        recipient=order.settlement_address or "",
        amount_in_max=quote.amount_in_max,
        amount_out=quote.amount_out,
        deadline=math.ceil(deadline.timestamp()),
        reference=order.payment_reference,
    )


def _make_token(quote: OrderQuote) -> Token:
    return Token(
        chain_id=quote.chain_id, address=quote.token_address, symbol=quote.token_symbol, decimals=quote.token_decimals
    )


def _confirm_hops(access: ChainAccess, quote: OrderQuote, terms: Terms) -> tuple[tuple[PlannedHop, ...], Terms]:
    """Ask the bridge of a payment for its present terms; the deposit grows as far as the quote allows."""
    bridge = find_bridge(quote.hops)
    if bridge is None:
        return quote.hops, terms
    first = bridge.hop.amount_in
    largest = mul_div_up(first, quote.amount_in_max, quote.amount_in)
    try:
        return confirm_bridge(access.firm, quote.hops, terms, first=first, largest=largest)
    except BridgeAsksMore as error:
        raise OrderQuoteRefused(
            OrderQuoteRefusal.EXPIRED, "The bridge asks for more than quoted by now; ask for a new quote"
        ) from error


def _remember(
    resources: Resources, hops: tuple[PlannedHop, ...], quote: OrderQuote, terms: Terms, call: PaymentCall
) -> None:
    """Write down who pays by this quote, and which deposit was built: only such a one counts as on its way."""
    planned = find_bridge(hops)
    if planned is None:
        with resources.database.write() as session:
            remember_payer(session, quote.quote_id, terms.payer)
        return
    bridge = planned.hop
    build = describe_build(
        payer=terms.payer,
        chain_id=quote.chain_id,
        token_address=bridge.token_in.address,
        amount=bridge.amount_in if is_swapped(hops) else terms.amount_in_max,
        promised_amount=quote.amount_out,
        fill_deadline=call.fill_deadline,
        only=call.relayer,
    )
    with resources.database.write() as session:
        remember_build(session, quote.quote_id, build)


def _require_funds(chain: PaymentChain, call: PaymentCall, token: Token, terms: Terms) -> None:
    """Say before anybody signs that a wallet has too little, in words that name what is missing."""
    for needed_token, needed in list_needs(call, token, terms.amount_in_max).items():
        held = chain.read_balance(needed_token, terms.payer) if needed else 0
        if held < needed:
            raise Shortage(needed_token, held, needed)


def _try_payment(
    chain: PaymentChain, order: PublicOrder, quote: OrderQuote, call: PaymentCall, terms: Terms
) -> SignablePayment:
    """Try the payment with the order's reference, and without where the recipient refuses it."""
    allowance, granted = read_allowances(chain, call.spending, terms.payer)
    marked = list_transactions(append_reference(call, order.payment_reference), allowance, granted)
    has_reference = True
    try:
        tried = chain.simulate(marked, terms.payer, terms.recipient)
    except WouldFail as refusal:
        if refusal.number != len(marked) - 1:
            raise
        tried = chain.simulate(list_transactions(call, allowance, granted), terms.payer, terms.recipient)
        has_reference = False
    _require_arrival(quote, tried)
    return SignablePayment(
        quote=quote,
        env_mode=order.env_mode,
        payer=terms.payer,
        transactions=tried.transactions,
        amount_in_max=terms.amount_in_max,
        has_reference=has_reference,
    )


def _require_arrival(quote: OrderQuote, tried: Simulation) -> None:
    """Refuse a payment that would bring the merchant less; one that a bridge delivers arrives elsewhere."""
    if tried.received is None or quote.chain_id != quote.settlement_chain_id:
        return
    received: Mapping[str, int] = tried.received
    if received.get(quote.settlement_token_address, 0) < quote.amount_out:
        raise WouldFail("the merchant would receive less than the price")

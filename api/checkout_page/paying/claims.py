"""Proving a payment by a signature, as the page's scripts hand it on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.checkout_page.language.strings import Strings, isolate
from api.checkout_page.money.amounts import format_money
from api.checkout_page.money.transfers import name_chain
from api.services.checkout.money_seen import MoneySeen
from api.services.orders.views import PublicOrder
from api.services.settlement.claims.signed_claims import ClaimOffer, ClaimRefused


def describe_offers(offers: Sequence[ClaimOffer], merchant: str, chain_id: int, strings: Strings) -> dict[str, Any]:
    """Return the answer of the claim endpoint: what can be signed for, or why there is nothing."""
    if not offers:
        text = strings.claim["not_seen"].format(merchant=isolate(merchant), chain=name_chain(chain_id))
        return {"candidates": [], "explanation": text}
    return {
        "candidates": [
            {
                "log_index": offer.log_index,
                "token": offer.token_symbol,
                "amount_text": format_money(offer.amount, offer.decimals, offer.token_symbol, strings),
                "typed_data": offer.typed_data,
            }
            for offer in offers
        ],
        "words": write_words(strings),
    }


def write_words(strings: Strings) -> dict[str, str]:
    """Return what is said while the wallet signs, and where it does not: nobody needs it before."""
    return {name: strings.claim[name] for name in ("signing", "claim_declined", "sign_failed")}


def claim_text(seen: MoneySeen, chain_id: int, tx_hash: str, strings: Strings) -> str:
    """Say what became of a signature that was taken."""
    is_counted = any((row.chain_id, row.tx_hash) == (chain_id, tx_hash) for row in seen.transfers)
    return strings.claim["counted" if is_counted else "checked"]


def explain_refusal(error: ClaimRefused, order: PublicOrder, strings: Strings) -> str:
    """Say why a signature was not taken, and what to do."""
    return strings.claim[error.reason].format(merchant=isolate(order.vendor_name))

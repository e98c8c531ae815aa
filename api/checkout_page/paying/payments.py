"""What a wallet signs, as the page's scripts hand it on."""

from __future__ import annotations

from typing import Any

from adapters.transactions.base import Transaction
from api.checkout_page.language.strings import Strings
from api.checkout_page.money.amounts import format_money
from api.domain.env import EnvMode
from api.services.checkout.transactions import Shortage, SignablePayment
from routing_engine.reference.chains import CHAINS

_WORDS = ("confirm", "confirm_step", "confirm_all", "mining", "kept", "failed", "not_sent", "late")
"""What is said while the wallet asks, and where it fails: nobody needs it before, so it comes with what is signed."""


def describe_payment(payment: SignablePayment, strings: Strings) -> dict[str, Any]:
    """Return the answer of the transactions endpoint; numbers as wallets take them, in hex."""
    quote = payment.quote
    return {
        "quote_id": quote.quote_id,
        "payer": payment.payer,
        "chain_id": quote.chain_id,
        "chain_hex": hex(quote.chain_id),
        "chain": CHAINS[quote.chain_id].name,
        "explorer_url": CHAINS[quote.chain_id].explorer_tx_url if payment.env_mode == EnvMode.LIVE else None,
        "most_text": format_money(payment.amount_in_max, quote.token_decimals, quote.token_symbol, strings),
        "has_reference": payment.has_reference,
        "words": {name: strings.wallet[name] for name in _WORDS} | {"once": strings.page["prompts_one"]},
        "transactions": [_describe_transaction(each, payment, strings) for each in payment.transactions],
    }


def describe_shortage(shortage: Shortage, strings: Strings) -> dict[str, str]:
    """Say what a wallet lacks, before anybody signs."""
    token = shortage.token
    amounts = (shortage.held, shortage.needed)
    held, needed = (format_money(amount, token.decimals, token.symbol, strings) for amount in amounts)
    chain = CHAINS[token.chain_id].name
    return {"explanation": strings.wallet["balance_too_low"].format(held=held, needed=needed, chain=chain)}


def _describe_transaction(transaction: Transaction, payment: SignablePayment, strings: Strings) -> dict[str, Any]:
    quote = payment.quote
    amount = format_money(payment.amount_in_max, quote.token_decimals, quote.token_symbol, strings)
    return {
        "purpose": transaction.purpose,
        "label": strings.wallet[transaction.purpose].format(symbol=quote.token_symbol, amount=amount),
        "to": transaction.to,
        "value": hex(transaction.value),
        "data": "0x" + transaction.data.hex(),
        "gas": None if transaction.gas is None else hex(transaction.gas),
    }

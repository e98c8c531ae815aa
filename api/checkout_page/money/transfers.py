"""An order's transfers in the customer's words: what came, where it is, what is on its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from api.checkout_page.language.strings import Strings
from api.checkout_page.money.amounts import format_count, format_money
from api.domain.transfers import TransferKind
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.orders.views import PublicOrder
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

AFTER_CLOSE = "after_close"


def list_transactions(
    order: PublicOrder, seen: MoneySeen, merchant: str, strings: Strings
) -> Iterator[Mapping[str, str | bool | None]]:
    """Yield each transaction that is listed once, with what it moved.

    These are ``label``, ``chain``, ``hash``, ``explorer_url``, ``is_simulated`` and ``text``.

    Parameters
    ----------
    merchant : str
        The name to call the merchant by.
    """
    texts: dict[tuple[int, str], list[str]] = {}
    labels: dict[tuple[int, str], str] = {}
    for transfer in seen.main:
        text = _choose_words(transfer, strings).format(
            amount=format_amount_of(order, transfer, strings),
            bridge=name_protocol(transfer.bridge, strings),
            merchant=merchant,
        )
        key = transfer.chain_id, transfer.tx_hash
        texts.setdefault(key, []).append(text)
        labels.setdefault(key, _choose_label(transfer, strings).format(merchant=merchant))
    for (chain_id, tx_hash), parts in texts.items():
        yield {
            "label": labels[chain_id, tx_hash],
            "chain": name_chain(chain_id),
            "hash": tx_hash,
            "explorer_url": link_transaction(order, chain_id, tx_hash),
            "is_simulated": order.is_simulated,
            "text": " ".join(parts),
        }


def describe_left_out(seen: MoneySeen, strings: Strings) -> str:
    """Say how many transactions are not listed; empty if all are."""
    count = len({(row.chain_id, row.tx_hash) for row in seen.transfers if not row.is_main})
    return strings.say_count("left_out", count, format_count(count, strings)) if count else ""


def describe_on_its_way(order: PublicOrder, seen: MoneySeen, strings: Strings) -> str:
    """Say what a bridge has taken in for an order and not delivered yet; empty if there is no such thing."""
    words = strings.transfer["on_its_way"]
    return " ".join(
        words.format(amount=format_amount_of(order, row, strings), bridge=name_protocol(row.bridge, strings))
        for row in seen.on_its_way
        if row.is_main
    )


def describe_amounts(order: PublicOrder, transfers: Iterable[SeenTransfer], strings: Strings) -> str:
    """List amounts, such as ``5.00 DAI on Base, 1 ETH on Ethereum``."""
    return strings.transfer["separator"].join(
        f"{format_amount_of(order, row, strings)} · {name_chain(row.chain_id)}" for row in transfers if row.is_main
    )


def format_amount_of(order: PublicOrder, transfer: SeenTransfer, strings: Strings) -> str:
    """Write a transfer's amount; of a token that is not listed its contract and smallest units."""
    return format_amount(order, transfer.chain_id, transfer.token_address, transfer.amount, strings)


def format_amount(order: PublicOrder, chain_id: int, token_address: str, amount: int, strings: Strings) -> str:
    """Write an amount of some token, as `format_amount_of` does."""
    if (chain_id, token_address) == (order.settlement_chain_id, order.settlement_token_address):
        decimals, symbol = order.settlement_token_decimals or 0, order.settlement_token_symbol or ""
        return format_money(amount, decimals, symbol, strings)
    return format_token(chain_id, token_address, amount, strings)


def format_token(chain_id: int, token_address: str, amount: int, strings: Strings) -> str:
    """Write an amount; of a token that is not listed its contract and smallest units."""
    info = token_registry.info_of(chain_id, token_address)
    if info is None:
        return format_money(amount, 0, token_address, strings)
    token = info.on(chain_id)
    return format_money(amount, token.decimals, token.symbol, strings)


def is_listed(transfer: SeenTransfer) -> bool:
    """Whether a transfer is of a token that is known here: anybody can make others, and send them."""
    return token_registry.info_of(transfer.chain_id, transfer.token_address) is not None


def link_transaction(order: PublicOrder, chain_id: int, tx_hash: str) -> str | None:
    """Return a transaction's address at its chain's explorer; None where it is simulated, or no explorer is known."""
    chain = CHAINS.get(chain_id)
    return chain.explorer_url(tx_hash) if chain and not order.is_simulated else None


def name_protocol(protocol: str, strings: Strings) -> str:
    """Return what people call a bridge or an exchange."""
    known = strings.protocols.get(protocol)
    return known or (protocol.replace("_", " ").capitalize() if protocol else strings.protocols["bridge"])


def name_chain(chain_id: int) -> str:
    """Return a chain's name, or its number where it has none here."""
    chain = CHAINS.get(chain_id)
    return chain.name if chain else str(chain_id)


def _choose_words(transfer: SeenTransfer, strings: Strings) -> str:
    if transfer.kind == TransferKind.PAYMENT and transfer.is_after_close:
        return strings.transfer[AFTER_CLOSE]
    return strings.transfer[transfer.kind]


def _choose_label(transfer: SeenTransfer, strings: Strings) -> str:
    is_delivery = transfer.kind == TransferKind.PAYMENT and transfer.source_tx_hash is not None
    return strings.transfer_label["delivery" if is_delivery else transfer.kind]

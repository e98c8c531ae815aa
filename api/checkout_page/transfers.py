"""An order's transfers in the customer's words: what came, where it is, what is on its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from api.checkout_page.amounts import format_money
from api.checkout_page.strings import Strings
from api.domain.transfers import TransferKind
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.orders.views import PublicOrder
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

AFTER_CLOSE = "after_close"


def list_transactions(
    order: PublicOrder, seen: MoneySeen, merchant: str, strings: Strings
) -> Iterator[Mapping[str, str | bool | None]]:
    """Yield each transaction once, with what it moved.

    These are ``chain``, ``hash``, ``explorer_url``, ``is_simulated`` and ``text``.

    Parameters
    ----------
    merchant : str
        The name to call the merchant by.
    """
    texts: dict[tuple[int, str], list[str]] = {}
    for transfer in seen.transfers:
        text = _choose_words(transfer, strings).format(
            amount=format_amount_of(order, transfer), bridge=_name_bridge(transfer, strings), merchant=merchant
        )
        texts.setdefault((transfer.chain_id, transfer.tx_hash), []).append(text)
    for (chain_id, tx_hash), parts in texts.items():
        chain = CHAINS.get(chain_id)
        yield {
            "chain": name_chain(chain_id),
            "hash": tx_hash,
            "explorer_url": chain.explorer_url(tx_hash) if chain and not order.is_simulated else None,
            "is_simulated": order.is_simulated,
            "text": " ".join(parts),
        }


def describe_on_its_way(order: PublicOrder, seen: MoneySeen, strings: Strings) -> str:
    """Say what a bridge has taken in for an order and not delivered yet; empty if there is no such thing."""
    words = strings.transfer["on_its_way"]
    return " ".join(
        words.format(amount=format_amount_of(order, row), bridge=_name_bridge(row, strings)) for row in seen.on_its_way
    )


def describe_amounts(order: PublicOrder, transfers: Iterable[SeenTransfer]) -> str:
    """List amounts, such as ``5.00 DAI on Base, 1 ETH on Ethereum``."""
    return ", ".join(f"{format_amount_of(order, row)} · {name_chain(row.chain_id)}" for row in transfers)


def format_amount_of(order: PublicOrder, transfer: SeenTransfer) -> str:
    """Write a transfer's amount; of a token that is not listed its contract and smallest units."""
    if (transfer.chain_id, transfer.token_address) == (order.settlement_chain_id, order.settlement_token_address):
        return format_money(transfer.amount, order.settlement_token_decimals or 0, order.settlement_token_symbol or "")
    info = token_registry.info_of(transfer.chain_id, transfer.token_address)
    if info is None:
        return format_money(transfer.amount, 0, transfer.token_address)
    token = info.on(transfer.chain_id)
    return format_money(transfer.amount, token.decimals, token.symbol)


def name_chain(chain_id: int) -> str:
    """Return a chain's name, or its number where it has none here."""
    chain = CHAINS.get(chain_id)
    return chain.name if chain else str(chain_id)


def _choose_words(transfer: SeenTransfer, strings: Strings) -> str:
    if transfer.kind == TransferKind.PAYMENT and transfer.is_after_close:
        return strings.transfer[AFTER_CLOSE]
    return strings.transfer[transfer.kind]


def _name_bridge(transfer: SeenTransfer, strings: Strings) -> str:
    return strings.protocols.get(transfer.bridge, strings.protocols["bridge"])

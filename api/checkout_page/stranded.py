"""Where money is that a bridge did not deliver, in the customer's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from api.checkout_page.amounts import format_money
from api.checkout_page.strings import Strings, fill
from api.services.orders.views import PublicOrder
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS


def is_out(order: PublicOrder) -> bool:
    """Whether some of the money has not come back yet."""
    return any(not row["refund_hash"] for row in order.stranded)


def describe_stranded(order: PublicOrder, merchant: str, strings: Strings) -> Iterator[Mapping[str, str | bool]]:
    """Yield, for each deposit that was not delivered, ``title``, ``text``, ``owner`` and ``is_back``.

    Parameters
    ----------
    merchant : str
        The name to call the merchant by.
    """
    for row in order.stranded:
        chain = CHAINS.get(row["chain_id"])
        is_back = bool(row["refund_hash"])
        words = fill(
            strings.stranded["back" if is_back else "out"],
            amount=_format_amount(row["chain_id"], row["token_address"], int(row["amount"]), strings),
            bridge=strings.protocols.get(row["bridge"], strings.protocols["bridge"]),
            chain=chain.name if chain else str(row["chain_id"]),
            merchant=merchant,
        )
        yield {**words, "owner": row["owner"], "is_back": is_back}


def _format_amount(chain_id: int, address: str, amount: int, strings: Strings) -> str:
    """Write an amount; of a token that is not listed its contract and smallest units."""
    info = token_registry.info_of(chain_id, address)
    if info is None:
        return format_money(amount, 0, address, strings)
    token = info.on(chain_id)
    return format_money(amount, token.decimals, token.symbol, strings)

"""Where money is that a bridge did not deliver, in the customer's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from api.checkout_page.language.strings import Strings, fill
from api.checkout_page.money.transfers import format_token, name_chain
from api.services.orders.views import PublicOrder
from api.services.routing.token_serializers import checksum


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
        is_back = bool(row["refund_hash"])
        words = fill(
            strings.stranded["back" if is_back else "out"],
            amount=format_token(row["chain_id"], row["token_address"], int(row["amount"]), strings),
            bridge=strings.protocols.get(row["bridge"], strings.protocols["bridge"]),
            chain=name_chain(row["chain_id"]),
            merchant=merchant,
        )
        yield {**words, "owner": checksum(row["owner"]), "is_back": is_back}

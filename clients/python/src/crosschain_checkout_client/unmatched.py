"""Transfers that count for no order, blocking; made from `async_unmatched.py` by `make clients`."""

from __future__ import annotations

from collections.abc import Iterator

from crosschain_checkout_client import models
from crosschain_checkout_client.calls import Call, check_id
from crosschain_checkout_client.pages import Send, list_pages

PATH = "/api/v1/unmatched_transfer"


class UnmatchedTransfers:
    """Transfers that reached the merchant and count for no order."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(self, *, page_size: int | None = None) -> Iterator[models.UnmatchedTransfer]:
        """Yield them, asking for a page at a time."""

        def ask(start: str | None) -> models.UnmatchedTransferList:
            query = {"limit": page_size, "cursor": start}
            return self._send(Call(method="GET", path=PATH, kind=models.UnmatchedTransferList, query=query))

        for page in list_pages(ask, None):
            yield from page.data

    def assign(
        self, transfer_id: str, payment_order_id: str, *, idempotency_key: str | None = None
    ) -> models.PaymentOrder:
        """Let a transfer count for an order."""
        path, body = f"{PATH}/{check_id(transfer_id)}/assign", {"payment_order_id": payment_order_id}
        call = Call(method="POST", path=path, kind=models.PaymentOrder, body=body, idempotency_key=idempotency_key)
        return self._send(call)

"""Transfers that count for no order, awaited; `unmatched.py` is made from this file by `make clients`."""

from __future__ import annotations

from collections.abc import AsyncIterator

from crosschain_checkout_client import models
from crosschain_checkout_client.async_pages import AsyncSend, list_pages
from crosschain_checkout_client.calls import Call, check_id

PATH = "/api/v1/unmatched_transfer"


class AsyncUnmatchedTransfers:
    """Transfers that reached the merchant and count for no order."""

    def __init__(self, send: AsyncSend) -> None:
        self._send = send

    async def list(self, *, page_size: int | None = None) -> AsyncIterator[models.UnmatchedTransfer]:
        """Yield them, asking for a page at a time."""

        async def ask(start: str | None) -> models.UnmatchedTransferList:
            query = {"limit": page_size, "cursor": start}
            return await self._send(Call(method="GET", path=PATH, kind=models.UnmatchedTransferList, query=query))

        async for page in list_pages(ask, None):
            for transfer in page.data:
                yield transfer

    async def assign(
        self, transfer_id: str, payment_order_id: str, *, idempotency_key: str | None = None
    ) -> models.PaymentOrder:
        """Let a transfer count for an order."""
        path, body = f"{PATH}/{check_id(transfer_id)}/assign", {"payment_order_id": payment_order_id}
        call = Call(method="POST", path=path, kind=models.PaymentOrder, body=body, idempotency_key=idempotency_key)
        return await self._send(call)

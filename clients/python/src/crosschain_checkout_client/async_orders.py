"""Payment links, orders, refunds and transfers, awaited; `orders.py` is made from this file by `make clients`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Any, Unpack

from crosschain_checkout_client import models
from crosschain_checkout_client.async_pages import AsyncSend, AsyncStream, list_pages, split_lines
from crosschain_checkout_client.calls import Call
from crosschain_checkout_client.checks import check_id
from crosschain_checkout_client.filters import OrderFilter, RefundFilter, write_filter
from crosschain_checkout_client.wire import write_value

ORDERS = "/api/v1/payment"
REFUNDS = "/api/v1/refund"
TRANSFERS = "/api/v1/unmatched_transfer"


class AsyncPaymentLinks:
    """Ask a customer for money."""

    def __init__(self, send: AsyncSend) -> None:
        self._send = send

    async def create(
        self, *, idempotency_key: str | None = None, **link: Unpack[models.NewPaymentLink]
    ) -> models.PaymentLink:
        """Make an order and the address of the page where the customer pays it.

        Give an `idempotency_key` of your own, such as the cart's id, and the same cart never has two orders, even if
        your program ends in between.
        """
        path = "/api/v1/payment_link"
        call = Call(method="POST", path=path, kind=models.PaymentLink, body=link, idempotency_key=idempotency_key)
        return await self._send(call)


class AsyncOrders:
    """Payment orders and their refunds."""

    def __init__(self, send: AsyncSend, stream: AsyncStream) -> None:
        self._send = send
        self._stream = stream

    async def get(self, order_id: str) -> models.PaymentOrder:
        """Read an order."""
        return await self._send(
            Call(method="GET", path=f"{ORDERS}/{check_id(order_id=order_id)}", kind=models.PaymentOrder)
        )

    async def list(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[OrderFilter]
    ) -> AsyncIterator[models.PaymentOrder]:
        """Yield the orders of the key's environment, newest first, asking for a page at a time.

        With several filters, those that have all: `list(status="success", metadata={"cart": "7"})`. `limit` is how many
        come with one request: stop when there are enough.
        """

        async def ask(start: str | None) -> models.OrderList:
            return await self.get_page(limit=limit, cursor=start, **filters)

        async for page in list_pages(ask, cursor):
            for order in page.data:
                yield order

    async def get_page(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[OrderFilter]
    ) -> models.OrderList:
        """Read one page of orders, with the cursor of the next."""
        query = {**write_filter(filters), "limit": limit, "cursor": cursor}
        return await self._send(Call(method="GET", path=ORDERS, kind=models.OrderList, query=query))

    async def export(self, **filters: Unpack[OrderFilter]) -> AsyncGenerator[str, None]:
        """Yield the orders of a list as the lines of a CSV file, the header first, as they come.

        Each line keeps its end. The service makes one file at a time, so read it to its end, or close the generator.

        Raises
        ------
        ConnectionFailed
            Also where the file ends too early: then what came of it is not all.
        """
        call = Call(method="GET", path=f"{ORDERS}.csv", kind=str, query=write_filter(filters), accept="text/csv")
        async with aclosing(split_lines(self._stream(call))) as lines:
            async for line in lines:
                yield line

    async def change_metadata(self, order_id: str, metadata: Mapping[str, Any]) -> models.PaymentOrder:
        """Put other metadata in the place of an order's, all of it; no event tells of it."""
        path, body = f"{ORDERS}/{check_id(order_id=order_id)}", {"metadata": metadata}
        return await self._send(Call(method="PATCH", path=path, kind=models.PaymentOrder, body=body))

    async def cancel(self, order_id: str, *, idempotency_key: str | None = None) -> models.PaymentOrder:
        """Take back an order that has not been paid in full."""
        return await self._act(order_id, "cancel", None, idempotency_key)

    async def refund(
        self, order_id: str, *, idempotency_key: str | None = None, **refund: Unpack[models.NewRefund]
    ) -> models.PaymentOrder:
        """Send some or all of what came for an order back.

        Two calls are two refunds: each has an idempotency key of its own unless you give both the same one. Give one,
        such as your own number of the refund, wherever a call may come twice.

        `refunds` of the order has each `transaction` that your own wallet has to sign. Where nobody can know whether it
        was carried out, the error has the `idempotency_key` to try it again with.
        """
        return await self._act(order_id, "refund", refund, idempotency_key)

    async def cancel_refund(
        self, order_id: str, refund_id: str, *, idempotency_key: str | None = None
    ) -> models.PaymentOrder:
        """Cancel a refund that your wallet has not sent: its money is left to be asked for again."""
        return await self._act(order_id, "cancel_refund", {"refund": refund_id}, idempotency_key)

    async def simulate(
        self,
        order_id: str,
        action: models.Action,
        *,
        quote_id: str | None = None,
        chain_id: int | None = None,
        token: str | None = None,
        without_reference: bool = False,
        idempotency_key: str | None = None,
    ) -> models.PaymentOrder:
        """Let something happen to a test order.

        `chain_id` and `token`: to pay in this token; `without_reference`: to pay without naming the order.
        """
        chosen = {"quote_id": quote_id, "chain_id": chain_id, "token": token}
        body: dict[str, object] = {"action": action}
        body |= {name: given for name, given in chosen.items() if given is not None}
        if without_reference:
            body["without_reference"] = True
        return await self._act(order_id, "simulate", body, idempotency_key)

    async def _act(self, order_id: str, act: str, body: object, key: str | None) -> models.PaymentOrder:
        path = f"{ORDERS}/{check_id(order_id=order_id)}/{act}"
        given = write_value(body)
        return await self._send(
            Call(method="POST", path=path, kind=models.PaymentOrder, body=given, idempotency_key=key)
        )


class AsyncRefunds:
    """Refunds of all orders; `orders.refund` makes one."""

    def __init__(self, send: AsyncSend) -> None:
        self._send = send

    async def list(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[RefundFilter]
    ) -> AsyncIterator[models.ListedRefund]:
        """Yield the refunds of the key's environment, newest first, asking for a page at a time.

        With several filters, those that have all: `list(status="requested", created_to=an_hour_ago)` yields those that
        your wallet has not sent for an hour.
        """

        async def ask(start: str | None) -> models.RefundList:
            return await self.get_page(limit=limit, cursor=start, **filters)

        async for page in list_pages(ask, cursor):
            for refund in page.data:
                yield refund

    async def get_page(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[RefundFilter]
    ) -> models.RefundList:
        """Read one page of refunds, with the cursor of the next."""
        query = {**filters, "limit": limit, "cursor": cursor}
        return await self._send(Call(method="GET", path=REFUNDS, kind=models.RefundList, query=query))


class AsyncTransfers:
    """What reached the vendor: all of it as a file, and what counts for no order, such as one from an exchange."""

    def __init__(self, send: AsyncSend, stream: AsyncStream) -> None:
        self._send = send
        self._stream = stream

    async def export(
        self,
        *,
        moved_from: datetime | None = None,
        moved_to: datetime | None = None,
        env_mode: models.EnvMode | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yield every payment, refund and unmatched transfer as the lines of a CSV file, the header first.

        Oldest first, from `moved_from` on and before `moved_to`, the times of their blocks. Each line keeps its end.
        The service makes one file at a time, so read it to its end, or close the generator.

        Raises
        ------
        ConnectionFailed
            Also where the file ends too early: then what came of it is not all.
        """
        query = {"moved_from": moved_from, "moved_to": moved_to, "env_mode": env_mode}
        call = Call(method="GET", path="/api/v1/transfer.csv", kind=str, query=query, accept="text/csv")
        async with aclosing(split_lines(self._stream(call))) as lines:
            async for line in lines:
                yield line

    async def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> AsyncIterator[models.UnmatchedTransfer]:
        """Yield the transfers of the key's environment, newest first, asking for a page at a time."""

        async def ask(start: str | None) -> models.UnmatchedTransferList:
            return await self.get_page(limit=limit, cursor=start)

        async for page in list_pages(ask, cursor):
            for transfer in page.data:
                yield transfer

    async def get_page(self, *, limit: int | None = None, cursor: str | None = None) -> models.UnmatchedTransferList:
        """Read one page of transfers, with the cursor of the next."""
        query = {"limit": limit, "cursor": cursor}
        return await self._send(Call(method="GET", path=TRANSFERS, kind=models.UnmatchedTransferList, query=query))

    async def assign(
        self, transfer_id: str, payment_order_id: str, *, idempotency_key: str | None = None
    ) -> models.PaymentOrder:
        """Give a transfer to an order of any status; the answer is the order, for which it counts within seconds.

        A closed order is credited, and the money can be sent back with `refund(…, to=…)`.
        """
        path, body = f"{TRANSFERS}/{check_id(transfer_id=transfer_id)}/assign", {"payment_order_id": payment_order_id}
        return await self._send(
            Call(method="POST", path=path, kind=models.PaymentOrder, body=body, idempotency_key=idempotency_key)
        )

"""The stages of one payment on its way to the merchant: as its quote says, and as far as the chains have shown it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from api.domain.orders import OrderStatus
from api.domain.transfers import TransferKind
from api.services.checkout.expected_times import expect_arrival_s, expect_bridge_s, expect_sent_s, find_crossing
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.checkout.quote import OrderQuote
from api.services.orders.views import PublicOrder
from api.services.resources import Resources
from api.services.settlement.crediting.built_deposits import SIMULATED_BRIDGE

WRAP = "wrap"


class StageKind(StrEnum):
    """What happens at a stage."""

    SENT = "sent"
    SWAPPED = "swapped"
    CONFIRMED = "confirmed"
    BRIDGED = "bridged"
    RECEIVED = "received"


class StageState(StrEnum):
    """Where a stage stands."""

    TODO = "todo"
    NOW = "now"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage.

    Parameters
    ----------
    chain_id : int or None
        Where it happens; a bridge leads there. None while that is not known.
    protocol : str
        What swaps or bridges; empty elsewhere.
    sold, bought : str
        Symbols of what is swapped.
    tx_hash : str
        Its transaction on that chain; empty before there is one.
    began_at, ended_at : datetime or None
        When it began and ended, as far as that is known.
    expected_s : int or None
        How long it takes as a rule, once it has begun.
    """

    kind: StageKind
    state: StageState
    chain_id: int | None = None
    protocol: str = ""
    sold: str = ""
    bought: str = ""
    tx_hash: str = ""
    began_at: datetime | None = None
    ended_at: datetime | None = None
    expected_s: int | None = None


class Swap(NamedTuple):
    """What is swapped for what, and where."""

    protocol: str
    sold: str
    bought: str


def list_stages(resources: Resources, order: PublicOrder, seen: MoneySeen) -> tuple[Stage, ...]:
    """Return the stages of the payment that an order waits for, or was paid with, in their order."""
    deposit, payment = _find_payment(seen)
    route = _Route(order, seen.paid_quote, deposit, payment)
    return tuple(_list_stages(resources, order, route))


class _Route:
    """What is known of one payment: the quote's plan, and what came."""

    def __init__(
        self, order: PublicOrder, quote: OrderQuote | None, deposit: SeenTransfer | None, payment: SeenTransfer | None
    ) -> None:
        self.source = deposit or payment
        self.deposit, self.payment = deposit, payment
        self.quote = quote if self.source is None or (quote and quote.chain_id == self.source.chain_id) else None
        self.to_chain_id = order.settlement_chain_id
        self.from_chain_id = self.source.chain_id if self.source else quote.chain_id if quote else None
        self.crosses = deposit is not None or (
            None not in (self.from_chain_id, self.to_chain_id) and self.from_chain_id != self.to_chain_id
        )
        self.is_fresh = self.source is None

    @property
    def swap(self) -> Swap | None:
        """What the quote turns the payer's token into on the chain paid from, several steps as one."""
        steps = self.quote.steps if self.quote else ()
        here = [each for each in steps if int(each["fromChainId"]) == int(each["toChainId"]) == self.from_chain_id]
        protocols = [each["protocol"] for each in here if each["protocol"] != WRAP]
        if not protocols:
            return None
        return Swap(protocol=protocols[0], sold=here[0]["fromToken"]["symbol"], bought=here[-1]["toToken"]["symbol"])

    @property
    def bridge_step(self) -> Mapping[str, Any] | None:
        """The step of the quote that leads to another chain."""
        return find_crossing(self.quote.steps if self.quote else ())

    @property
    def bridge(self) -> str:
        """The bridge that was seen, or else the one that was quoted."""
        seen = self.deposit.bridge if self.deposit else ""
        return seen or self.quoted_bridge

    @property
    def quoted_bridge(self) -> str:
        """The bridge of the quote; empty where none is known."""
        return str(self.bridge_step["protocol"]) if self.bridge_step else ""


def _find_payment(seen: MoneySeen) -> tuple[SeenTransfer | None, SeenTransfer | None]:
    """Return the deposit, if there is one, and the transfer to the merchant: of what is awaited, or else the largest.

    Anybody may send a little for an order; the customer follows what matters.
    """
    deposits = {row.tx_hash: row for row in seen.transfers if row.kind == TransferKind.DEPOSIT}
    if seen.on_its_way:
        return max(seen.on_its_way, key=lambda row: row.amount), None
    counted = [row for row in seen.payments if row.is_counted]
    awaited = [row for row in counted if not row.is_settled] or counted
    if not awaited:
        return None, None
    payment = max(awaited, key=lambda row: row.amount)
    return deposits.get(payment.source_tx_hash or ""), payment


def _list_stages(resources: Resources, order: PublicOrder, route: _Route) -> Iterator[Stage]:
    source, payment = route.source, route.payment
    yield Stage(
        kind=StageKind.SENT,
        state=StageState.NOW if source is None else StageState.DONE,
        chain_id=route.from_chain_id,
        tx_hash=source.tx_hash if source else "",
        expected_s=None if route.from_chain_id is None else expect_sent_s(route.from_chain_id),
    )
    if (swap := route.swap) is not None:
        yield Stage(
            kind=StageKind.SWAPPED,
            state=StageState.TODO if source is None else StageState.DONE,
            chain_id=route.from_chain_id,
            protocol=swap.protocol,
            sold=swap.sold,
            bought=swap.bought,
        )
    has_succeeded = order.status == OrderStatus.SUCCESS
    if route.crosses:
        yield from _list_bridge_stages(resources, order, route)
        yield _describe_arrival(resources, order, payment, StageKind.RECEIVED)
        return
    confirmed = _describe_arrival(resources, order, payment, StageKind.CONFIRMED)
    yield confirmed
    is_done = has_succeeded or confirmed.state == StageState.DONE
    state = StageState.DONE if has_succeeded else StageState.NOW if is_done else StageState.TODO
    yield Stage(kind=StageKind.RECEIVED, state=state, chain_id=route.to_chain_id)


def _list_bridge_stages(resources: Resources, order: PublicOrder, route: _Route) -> Iterator[Stage]:
    """Yield the stages between the payer's chain and the merchant's; a bridge begins at the deposit's block."""
    deposit, payment = route.deposit, route.payment
    yield Stage(
        kind=StageKind.CONFIRMED,
        state=StageState.TODO if route.is_fresh else StageState.DONE,
        chain_id=route.from_chain_id,
    )
    expected = None
    if route.from_chain_id is not None:
        steps = route.quote.steps if route.quote else ()
        expected = expect_bridge_s(resources, order, route.from_chain_id, route.bridge, steps)
    yield Stage(
        kind=StageKind.BRIDGED,
        state=StageState.TODO if route.is_fresh else StageState.DONE if payment else StageState.NOW,
        chain_id=route.to_chain_id,
        protocol=(route.quoted_bridge or route.bridge) if route.bridge == SIMULATED_BRIDGE else route.bridge,
        tx_hash=payment.tx_hash if payment else "",
        began_at=deposit.mined_at if deposit else None,
        ended_at=payment.mined_at if payment else None,
        expected_s=expected,
    )


def _describe_arrival(resources: Resources, order: PublicOrder, payment: SeenTransfer | None, kind: StageKind) -> Stage:
    """Describe the wait until the merchant's own chain will not lose the payment any more."""
    has_succeeded = order.status == OrderStatus.SUCCESS
    is_done = has_succeeded or (payment is not None and payment.is_settled and kind == StageKind.CONFIRMED)
    state = StageState.DONE if is_done else StageState.NOW if payment else StageState.TODO
    return Stage(
        kind=kind,
        state=state,
        chain_id=order.settlement_chain_id,
        began_at=payment.mined_at if payment else None,
        ended_at=_find_success(order) if has_succeeded else None,
        expected_s=expect_arrival_s(resources, order),
    )


def _find_success(order: PublicOrder) -> datetime | None:
    times = [each["at"] for each in order.timeline if each["status"] == OrderStatus.SUCCESS]
    return datetime.fromisoformat(times[0]) if times else None

"""Make things happen to a test order on the simulated chains; the worker sees them there, as it does on real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound, Problem
from api.domain.money import UINT256_MAX
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.domain.simulation import FITS, Action
from api.services.orders.money import NO_MONEY, Money, load_money
from api.services.orders.store import lock_orders, settle
from api.services.resources import Resources
from api.services.simulator import wallet as wallet
from api.services.simulator.chain import FINALITY_BLOCKS, hold
from api.services.simulator.order_state import list_outstanding, list_unfinal, load_quoted_source
from api.services.simulator.wallet import PayerFunds
from api.storage.tables import PaymentOrder

ANEW = "Create a new payment link to try it"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """A locked test order and everything an action needs."""

    session: Session
    order: PaymentOrder
    money: Money
    source: PayerFunds | None
    now: datetime

    @property
    def due(self) -> int:
        return self.order.amount_due or 0


def simulate(resources: Resources, order_id: str, action: Action, quote_id: str | None = None) -> None:
    """Let `action` happen to a test order.

    Parameters
    ----------
    quote_id : str, optional
        Quote of this order: the payer pays from its chain, with its token.

    Raises
    ------
    NotFound
        If there is no such order.
    Conflict
        If it is a live order, or its present state does not allow the action.
    """
    require_simulated(resources)
    with resources.database.write() as session:
        order = lock_orders(session, [order_id]).get(order_id)
        if order is None:
            raise NotFound(f"There is no payment order {order_id!r}")
        run_action(session, order, action, quote_id, resources.clock.now())


def require_simulated(resources: Resources) -> None:
    """Refuse to simulate where test orders are paid on real chains; raises `Conflict`."""
    if not resources.is_simulated(EnvMode.TEST):
        raise Conflict("Test orders are paid on real chains here (TEST_RPC_URLS); send a transaction instead")


def require_test(order: PaymentOrder) -> None:
    """Refuse to simulate anything on a live order; raises `Conflict`."""
    if order.env_mode != EnvMode.TEST:
        problem = Problem(path="env_mode", message="Create the payment link with env_mode test to simulate payments")
        raise Conflict("Nothing can be simulated on a live order", problem)


def run_action(session: Session, order: PaymentOrder, action: Action, quote_id: str | None, now: datetime) -> None:
    """Let `action` happen to a locked order; raises as `simulate`."""
    require_test(order)
    if order.status not in FITS[action]:
        wanted = " or ".join(sorted(FITS[action]))
        message = f"The order is {order.status}; {action} is for an order that is {wanted}"
        is_late = action == Action.PAY and order.status in FITS[Action.PAY_LATE]
        raise _make_refusal(message, f"Send {Action.PAY_LATE}, which pays an order after its time" if is_late else ANEW)
    if action != Action.EXPIRE:
        wallet.get_settlement_token(order)
    source = None if quote_id is None else load_quoted_source(session, order, quote_id, now)
    money = load_money(session, [order.id]).get(order.id, NO_MONEY)
    _ACTIONS[action](_Scene(session=session, order=order, money=money, source=source, now=now))


def _pay(scene: _Scene) -> None:
    _require_due(scene)
    _send(scene, scene.due)


def _pay_too_little(scene: _Scene) -> None:
    _require_due(scene)
    if scene.due == 1:
        raise _make_refusal("The amount due is a single unit, which can't be underpaid")
    _send(scene, scene.due // 2)


def _pay_too_much(scene: _Scene) -> None:
    _require_due(scene)
    if scene.due == UINT256_MAX:
        raise _make_refusal("The amount due is the largest there is, which can't be overpaid")
    _send(scene, min(UINT256_MAX, scene.due + max(1, scene.due // 10)))


def _pay_late(scene: _Scene) -> None:
    order = scene.order
    if scene.now > order.expires_at + LATE_WINDOW:
        raise _make_refusal("The order expired more than 24 hours ago and takes no payment any more")
    _refuse_outstanding(scene)
    order.expires_at = min(order.expires_at, scene.now)
    settle(scene.session, order, scene.money, scene.now)
    _send(scene, scene.due)


def _pay_wrong_token(scene: _Scene) -> None:
    _require_due(scene)
    wallet.pay_foreign(scene.session, scene.order, scene.now)


def _reorganise(scene: _Scene) -> None:
    """Let the chain lose the payment that is on its way, or else one that is made now."""
    session, order = scene.session, scene.order
    rows = list_outstanding(session, order, scene.money) + list_unfinal(session, order, scene.money)
    if not rows and order.status == OrderStatus.CREATED:
        wallet.pay_direct(session, order, scene.due, scene.now, dooms=True)
        return
    held = hold(session, *{row.chain_id for row in rows})
    rows = [row for row in rows if row.block_number > held[row.chain_id].head_number - FINALITY_BLOCKS]
    if not rows:
        raise _make_refusal("The order's payment is final, and no chain loses it any more")
    for row in rows:
        row.reorg_when_seen = True


def _delay_bridge(scene: _Scene) -> None:
    _refuse_outstanding(scene)
    source, fill_time = _choose_other_chain(scene), wallet.DELAYED_FILL_TIME
    wallet.pay_by_bridge(scene.session, scene.order, source, scene.due, scene.now, fill_time=fill_time)


def _fail_bridge(scene: _Scene) -> None:
    _refuse_outstanding(scene)
    wallet.fail_by_bridge(scene.session, scene.order, _choose_other_chain(scene), scene.now)


def _expire(scene: _Scene) -> None:
    scene.order.expires_at = min(scene.order.expires_at, scene.now)
    settle(scene.session, scene.order, scene.money, scene.now)


_ACTIONS: Mapping[Action, Callable[[_Scene], None]] = MappingProxyType(
    {
        Action.PAY: _pay,
        Action.UNDERPAY: _pay_too_little,
        Action.OVERPAY: _pay_too_much,
        Action.PAY_LATE: _pay_late,
        Action.WRONG_TOKEN: _pay_wrong_token,
        Action.REORG: _reorganise,
        Action.BRIDGE_DELAY: _delay_bridge,
        Action.BRIDGE_FAIL: _fail_bridge,
        Action.EXPIRE: _expire,
    }
)


def _send(scene: _Scene, amount: int) -> None:
    """Pay the merchant `amount`, from where the quote says."""
    source = scene.source
    if source is None or source.chain_id == scene.order.settlement_chain_id:
        wallet.pay_direct(scene.session, scene.order, amount, scene.now)
        return
    share = PayerFunds(
        chain_id=source.chain_id,
        token_address=source.token_address,
        amount=min(UINT256_MAX, -(-source.amount * amount // scene.due)),
    )
    wallet.pay_by_bridge(scene.session, scene.order, share, amount, scene.now, fill_time=wallet.FILL_TIME)


def _choose_other_chain(scene: _Scene) -> PayerFunds:
    source = scene.source or wallet.find_source_elsewhere(scene.order)
    if source.chain_id == scene.order.settlement_chain_id:
        problem = Problem(path="quote_id", message="Give a quote from another chain, or none")
        raise Conflict("A payment on the settlement chain crosses no bridge", problem)
    return source


def _require_due(scene: _Scene) -> None:
    if not scene.due:
        raise _make_refusal("The whole amount has been paid already")
    _refuse_outstanding(scene)


def _refuse_outstanding(scene: _Scene) -> None:
    refuse_outstanding(scene.session, scene.order, scene.money)


def refuse_outstanding(session: Session, order: PaymentOrder, money: Money) -> None:
    """Refuse a second payment while one is on its way; raises `Conflict`."""
    if list_outstanding(session, order, money):
        remedy = Problem(path="action", message="Wait until the worker has seen it, and look at the order again")
        raise Conflict("A simulated payment is on its way to this order", remedy)


def _make_refusal(message: str, remedy: str = ANEW) -> Conflict:
    return Conflict(message, Problem(path="action", message=remedy))

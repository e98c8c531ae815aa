"""What became of a leg, by the hash of its transaction: on its chain, and over a bridge on the next one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from adapters.bridges.events import Deposit
from api.domain.env import EnvMode
from api.services.chains.waiting_room import NoPlace
from api.services.execution.deliveries import Arrival, find_delivery
from api.services.execution.executable_routes import SETTING
from api.services.execution.lookups import SeenTransaction, look_up
from api.services.resources import Resources

if TYPE_CHECKING:
    from api.services.chains.chain_access import ChainAccess
    from api.services.chains.inquiries import Inquiries, Inquiry

PATIENCE_S = 4.0
"""How long a caller waits for all chains together."""
BUSY = "Too many ask this chain just now; ask again"
SILENT = "The chain does not answer; ask again"

log = structlog.get_logger(__name__)


class RouteStatus(StrEnum):
    """Where the transaction of a leg stands."""

    UNKNOWN = "unknown"
    PENDING = "pending"
    MINED = "mined"
    BRIDGING = "bridging"
    DELIVERED = "delivered"
    FAILED = "failed"


class ArrivalStatus(StrEnum):
    """Whether a bridge has delivered what it took in; overdue is what it gives back to whom it came from."""

    UNKNOWN = "unknown"
    WAITING = "waiting"
    OVERDUE = "overdue"
    DELIVERED = "delivered"


def follow_transaction(
    resources: Resources,
    env_mode: EnvMode,
    chain_id: int,
    tx_hash: str,
    *,
    has_key: bool,
    stopwatch: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Return where a transaction stands, and what bridges have delivered for it.

    What a chain does not say in time is unknown, with the reason; nothing is credited by any of it.

    Parameters
    ----------
    env_mode : EnvMode
        On whose chains it is looked for.
    tx_hash : str
        In lower case.
    has_key : bool
        Whether the caller has a key; strangers are admitted apart.
    stopwatch : callable
        Monotonic seconds.
    """
    access = resources.chain_access.get(env_mode)
    known = {"chainId": chain_id, "transactionHash": tx_hash}
    if access is None or chain_id not in access.chains:
        return known | _describe_unknown(_explain_missing(resources, env_mode, chain_id))
    lookup = _Lookup(access, env_mode, access.lookups.choose(has_key=has_key), stopwatch, stopwatch() + PATIENCE_S)
    try:
        with resources.lobby.enter(int(has_key)):
            return known | lookup.follow(chain_id, tx_hash)
    except NoPlace:
        return known | _describe_unknown(BUSY)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Asks chains one after the other, until a moment of the stopwatch."""

    access: ChainAccess
    env_mode: EnvMode
    lookups: Inquiries[Any]
    stopwatch: Callable[[], float]
    ends_at: float

    def follow(self, chain_id: int, tx_hash: str) -> dict[str, Any]:
        """Return all but what the caller said himself."""
        ask = partial(look_up, self.access.chains[chain_id].rpc, tx_hash)
        seen, reason = self._wait(self.lookups.begin(chain_id, tx_hash, partial(_shelter, ask)))
        if not isinstance(seen, SeenTransaction):
            return _describe_unknown(reason)
        if not seen.is_known:
            return _describe_unknown("The chain does not know this transaction: it is not sent yet, or was replaced")
        deliveries = [self._follow_deposit(each, seen) for each in seen.deposits]
        status, message = _judge(seen, deliveries)
        return {
            "status": status,
            "message": message,
            "blockNumber": seen.block_number,
            "minedAt": seen.mined_at,
            "confirmations": seen.confirmations,
            "isFinal": seen.is_final,
            "deliveries": deliveries,
        }

    def _follow_deposit(self, deposit: Deposit, seen: SeenTransaction) -> dict[str, Any]:
        promise = deposit.promise
        found, reason = self._find_arrival(deposit, seen)
        status, message = ArrivalStatus.UNKNOWN, reason
        if found is not None:
            status, message = _judge_arrival(deposit, found)
        return {
            "bridge": deposit.bridge_id.partition(":")[0],
            "status": status,
            "message": message,
            "chainId": promise.chain_id if promise else None,
            "token": promise.token_address if promise else "",
            "recipient": (found.recipient if found else "") or (promise.recipient if promise else deposit.recipient),
            "outputAmountMin": str(promise.amount if promise else 0),
            "outputAmount": str(found.amount) if found and found.tx_hash else None,
            "transactionHash": found.tx_hash if found else "",
            "fillDeadline": deposit.fill_deadline,
        }

    def _find_arrival(self, deposit: Deposit, seen: SeenTransaction) -> tuple[Arrival | None, str]:
        """Return what was found of a delivery, or why nobody looked."""
        promise = deposit.promise
        if promise is None or not deposit.delivery_topics or seen.mined_at is None:
            return None, "Where and what this bridge delivers does not follow from its event; ask the bridge"
        chain = self.access.chains.get(promise.chain_id)
        if chain is None:
            return None, f"Chain {promise.chain_id} is not connected here ({SETTING[self.env_mode]})"
        ask = partial(find_delivery, chain.rpc, deposit, seen.mined_at)
        begun = self.lookups.begin(promise.chain_id, deposit.bridge_id, partial(_shelter, ask))
        found, reason = self._wait(begun)
        return (found, "") if isinstance(found, Arrival) else (None, reason)

    def _wait(self, inquiry: Inquiry[Any] | None) -> tuple[Any, str]:
        """Return what was found, or why nothing was."""
        if inquiry is None:
            return None, BUSY
        return inquiry.wait(self.ends_at - self.stopwatch()), SILENT


def _shelter(ask: Callable[[], object]) -> object:
    """Return an answer, or None where code fails that reads what anybody could have written to a chain."""
    try:
        return ask()
    except Exception:
        log.exception("transaction_not_followed")
        return None


def _explain_missing(resources: Resources, env_mode: EnvMode, chain_id: int) -> str:
    if resources.is_simulated(env_mode):
        return "The test environment has simulated chains, on which no wallet sends anything"
    return f"Chain {chain_id} is not connected in the {env_mode} environment ({SETTING[env_mode]})"


def _describe_unknown(message: str) -> dict[str, Any]:
    return {
        "status": RouteStatus.UNKNOWN,
        "message": message,
        "blockNumber": None,
        "minedAt": None,
        "confirmations": 0,
        "isFinal": False,
        "deliveries": [],
    }


def _judge(seen: SeenTransaction, deliveries: list[dict[str, Any]]) -> tuple[RouteStatus, str]:
    if seen.block_number is None:
        return RouteStatus.PENDING, "Sent, and in no block yet"
    if not seen.is_successful:
        return RouteStatus.FAILED, f"It reverted: {seen.said}" if seen.said else "It reverted"
    if not seen.is_read:
        return RouteStatus.MINED, "A bridge's event in it could not be read; ask the bridge"
    if not deliveries:
        return RouteStatus.MINED, ""
    is_done = all(each["status"] == ArrivalStatus.DELIVERED for each in deliveries)
    return (RouteStatus.DELIVERED if is_done else RouteStatus.BRIDGING), ""


def _judge_arrival(deposit: Deposit, found: Arrival) -> tuple[ArrivalStatus, str]:
    if found.tx_hash:
        return ArrivalStatus.DELIVERED, ""
    if not found.is_complete:
        return ArrivalStatus.UNKNOWN, "Not delivered soon after the deposit; it is too long ago to search on"
    ends = deposit.fill_deadline
    if ends is not None and datetime.fromtimestamp(found.now, UTC) > ends + timedelta(minutes=1):
        return ArrivalStatus.OVERDUE, "Nobody delivered it in time; the bridge gives it back to whom it came from"
    return ArrivalStatus.WAITING, ""

"""Whom money may be sent back to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adapters.base import AdapterError
from adapters.chain.deployments import find_contracts
from adapters.rpc.multicall import MULTICALL3
from api.domain.env import EnvMode
from api.domain.errors import InvalidData, ServiceUnavailable
from api.domain.ids import make_reference
from api.services.chains.screening import is_rejected
from api.services.chains.waiting_room import SCREEN
from api.services.chains.wallets import has_acted, has_key, is_same_wallet, refuses_coin
from api.services.resources import Resources
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.reference import token_registry

RETRY_S = 5
NOBODYS = frozenset({ZERO_ADDRESS, NATIVE_ADDRESS, "0x000000000000000000000000000000000000dead", MULTICALL3})
"""The last is a contract that lets everybody take what it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundSource:
    """A transfer that is to be sent back, how much of it, and who paid it.

    Parameters
    ----------
    payment_id : int
        Of the row.
    amount : int or None
        In its token's smallest units; None for all that is left.
    payer : str
        Lower case; empty where that can't be told, and the vendor must say where to send it.
    paid_on, arrived_on : int
        Chain ids; they differ where a bridge delivered it.
    token_address, sender : str
        What arrived, and where: from there it goes back.
    is_certain : bool
        Whether it is certain that the payer paid; else he made a bridge's call with his own money, and if he is a
        contract, anybody may have told it to.
    """

    payment_id: int
    amount: int | None
    payer: str
    paid_on: int
    arrived_on: int
    token_address: str
    sender: str
    is_certain: bool


def is_sink(chain_id: int, address: str) -> bool:
    """Whether what is sent there is lost: an address without a key, a token, a contract that serves everybody."""
    is_token = token_registry.info_of(chain_id, address) is not None
    return is_token or address in NOBODYS or address in find_contracts(chain_id)


def require_reachable(resources: Resources, env_mode: EnvMode, source: RefundSource) -> RefundSource:
    """Return the source without its payer where money sent there would be lost.

    A contract that paid on another chain need not exist on this one, what is sent to a contract that serves everybody
    is anybody's, and one that anybody may have told to pay is not whoever did (ADR 97). One that has destroyed itself
    is nobody (ADR 136).

    Raises
    ------
    ServiceUnavailable
        If a chain does not answer, or too many wait for it.
    """
    if source.payer and is_sink(source.arrived_on, source.payer):
        return replace(source, payer="")
    access = resources.chain_access.get(env_mode)
    if not source.payer or source.paid_on == source.arrived_on or access is None:
        return source
    try:
        with resources.waiting_room.enter(source.paid_on), resources.waiting_room.enter(source.arrived_on):
            is_there = is_same_wallet(access.chains, source.payer, source.paid_on, source.arrived_on)
            is_known = source.is_certain or has_key(access.chains, source.payer, source.paid_on)
            is_somebody = has_acted(access.chains, source.payer, source.paid_on) if is_there else False
    except AdapterError as error:
        raise ServiceUnavailable("A chain does not answer; try again, or give `to`", retry_after_s=RETRY_S) from error
    return source if is_there and is_known and is_somebody else replace(source, payer="")


def require_taken(resources: Resources, env_mode: EnvMode, source: RefundSource, recipient: str) -> None:
    """Refuse to send coin to a contract that takes none with calldata: there the refund's reference stands (ADR 151).

    Raises
    ------
    InvalidData
        Naming `to`.
    ServiceUnavailable
        If the chain does not answer, or too many wait for it.
    """
    access = resources.chain_access.get(env_mode)
    chain = access.chains.get(source.arrived_on) if access is not None else None
    if chain is None or not recipient or source.token_address != NATIVE_ADDRESS:
        return
    try:
        with resources.waiting_room.enter(source.arrived_on):
            is_refused = refuses_coin(chain, source.sender, recipient, make_reference())
    except AdapterError as error:
        raise ServiceUnavailable("The chain does not answer; try again", retry_after_s=RETRY_S) from error
    if is_refused:
        message = "The contract there refuses coin with calldata, and without it a refund is not found; give another"
        raise InvalidData.at("to", message)


def require_accepted(resources: Resources, recipient: str) -> None:
    """Refuse to send money to an address that the operator's screen rejects.

    Raises
    ------
    InvalidData
        Naming `to`.
    ServiceUnavailable
        If the screen does not answer, or too many wait for it.
    """
    if recipient and is_rejected(resources.screen, resources.waiting_room.enter(SCREEN), recipient):
        raise InvalidData.at("to", "Rejected by the check of addresses")

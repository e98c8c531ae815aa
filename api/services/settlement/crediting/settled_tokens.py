"""Which tokens mean something: all others are left out before anything is written about them.

Anybody can make a token, and let it tell of as many transfers to everybody as fit into a block.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from api.domain.env import EnvMode
from api.domain.transfers import Transfer, TransferKind
from api.domain.watched import Move, Watched
from api.storage.db import Database
from api.storage.statements import Place, Statement
from api.storage.tables import PaymentOrder, SettlementAccount
from routing_engine.reference import token_registry


def leave_strange_tokens_out(
    database: Database, env_mode: EnvMode, transfers: Sequence[Transfer], watched: Watched
) -> tuple[Transfer, ...]:
    """Return the transfers, of one chain, without payments in tokens that are neither listed nor anybody's settlement.

    What is to be sent back stays, whichever token that is.
    """
    strange = [each for each in transfers if _is_strange(each, watched)]
    if not strange:
        return tuple(transfers)
    with database.look() as connection:
        settled = _load_settled_tokens(connection, env_mode, strange[0].chain_id)
    return tuple(each for each in transfers if each.token_address in settled or not _is_strange(each, watched))


def _is_strange(transfer: Transfer, watched: Watched) -> bool:
    if transfer.kind != TransferKind.PAYMENT or transfer.recipient not in watched.recipients:
        return False
    if token_registry.info_of(transfer.chain_id, transfer.token_address) is not None:
        return False
    move = Move(token_address=transfer.token_address, sender=transfer.sender, recipient=transfer.recipient)
    return move not in watched.moves


def _load_settled_tokens(place: Place, env_mode: EnvMode, chain_id: int) -> frozenset[str]:
    """Return every token in which a vendor receives on a chain, or has received: customers pay what they were shown.

    Of the orders' tokens each is the next one in the index, so their number does not matter.
    """
    values = {"env_mode": env_mode, "chain_id": chain_id}
    found = {row.token_address for row in _ACCOUNTS.fetch(place, values)}
    last: str | None = ""
    while last is not None:
        ((last,),) = _NEXT.fetch(place, {**values, "last": last})
        found |= {last} - {None}
    return frozenset(found)


_ACCOUNTS = Statement(
    select(SettlementAccount.token_address)
    .where(
        SettlementAccount.env_mode == bindparam("env_mode", type_=SettlementAccount.env_mode.type),
        SettlementAccount.chain_id == bindparam("chain_id", type_=SettlementAccount.chain_id.type),
    )
    .distinct()
)
_NEXT = Statement(
    select(func.min(PaymentOrder.settlement_token_address).label("token")).where(
        PaymentOrder.env_mode == bindparam("env_mode", type_=PaymentOrder.env_mode.type),
        PaymentOrder.settlement_chain_id == bindparam("chain_id", type_=PaymentOrder.settlement_chain_id.type),
        PaymentOrder.settlement_token_address > bindparam("last", type_=PaymentOrder.settlement_token_address.type),
    )
)

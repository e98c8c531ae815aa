"""What moved in a transaction whose calls are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adapters.rpc.abi import Log
from api.domain.transfers import FIRST_INNER_TRANSFER
from api.services.ledger.evidence.calldata import decode_coin
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import Movement, list_coin_movements, list_token_movements
from api.services.ledger.evidence.traces import CallTree, Frame, find_calls_around
from api.services.ledger.rpc_records import ChainTransaction
from routing_engine.model import NATIVE_ADDRESS


def list_traced_movements(
    chain_id: int,
    sent: ChainTransaction,
    logs: Sequence[Log],
    tree: CallTree,
    is_bridges: Sequence[bool],
    listed: Listed,
) -> list[Movement]:
    """Return everything that moved in a traced transaction, with what its calls say of how it moved.

    Coin that its own call says has the number that it has without a trace, so that it is the same transfer: a listed
    contract pays it, at the end of what it does.
    """
    tokens = list(list_token_movements(chain_id, logs, tree.frame_of_log))
    coin = list(list_coin_movements(tree))
    said = decode_coin(chain_id, sent, tokens)
    if said is not None:
        paid = (said.recipient, said.amount)
        fits = (place for place, row in enumerate(coin) if (row.recipient, row.amount) == paid and row.sender in listed)
        place = max((each for each in fits if coin[each].index < FIRST_INNER_TRANSFER), default=None)
        if place is not None:
            coin[place] = replace(coin[place], index=said.index)
    calls = find_calls_around(tree)
    return [
        replace(row, is_pulled=_is_pulled(tree.frames[calls[row.frame]], row), is_of_bridge=is_bridges[row.frame])
        for row in (*tokens, *coin)
    ]


def _is_pulled(call: Frame, movement: Movement) -> bool:
    """Whether a token was moved by another call than one of its holder's to it."""
    is_token = movement.token_address != NATIVE_ADDRESS and not movement.is_wrapping
    return is_token and (call.sender, call.recipient) != (movement.sender, movement.token_address)

"""Routers and pools that call for anybody, and events with any name: none of it speaks for a payer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.services.ledger.evidence.evidence import TracedEvidence
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import TRANSFER_TOPIC, WRAPPED, list_token_movements
from api.services.ledger.evidence.things import list_things
from api.services.ledger.evidence.traces import read_trace
from tests.support.traces import (
    PAYER,
    REFERENCE,
    SELLER,
    SHOP,
    TOKEN,
    TOOL,
    call,
    evidence_of,
    log_of,
    person,
    receipt,
    sent,
    told,
)


@pytest.mark.parametrize("borrows", [False, True])
@pytest.mark.parametrize("is_called_back", [False, True])
def test_a_router_that_calls_whatever_it_is_told_to_calls_nobody_back(is_called_back: bool, borrows: bool) -> None:
    """One of them makes any call for anybody. So only what a contract itself has called is its own affair."""
    pot, router, logs = person(9), person(1), (log_of(0, PAYER, person(9)), log_of(1, person(9), SHOP))
    given, paid = (call(maker, TOKEN, logs=[told(log)]) for maker, log in zip((PAYER, pot), logs, strict=True))
    asking = call(router, pot, calls=[paid])
    borrowed = call(router, router, calls=[asking]) | {"type": "DELEGATECALL"} if borrows else asking
    calls = [given, call(pot if is_called_back else PAYER, router, calls=[borrowed])]
    root = call(PAYER, pot, REFERENCE, calls=calls) if is_called_back else call(PAYER, PAYER, REFERENCE, calls=calls)
    found = evidence_of(read_trace(root, sent(root), receipt(*logs)), logs, router)
    movement = next(row for row in found.movements if row.recipient == SHOP)
    assert [each.is_own for each in found.proof_of(movement).namings][-1:] == [is_called_back]


def test_a_pool_that_is_made_to_call_somebody_names_nothing_and_pays_nothing() -> None:
    """What stands behind its call is its caller's, and what leaves it meanwhile is somebody's."""
    pool = person(1)
    paid = log_of(0, pool, SHOP, 5)
    inner = call(pool, TOOL, REFERENCE, calls=[call(pool, TOKEN, logs=[told(paid)])])
    root = call(PAYER, pool, REFERENCE, calls=[inner])
    tree = read_trace(root, sent(root), receipt(paid))
    movements = list(list_token_movements(1, (paid,), tree.frame_of_log))
    listed = Listed(contracts=frozenset({pool}), pools={pool: TRANSFER_TOPIC})
    evidence = TracedEvidence(
        tree, movements, listed=listed, earned={}, recipients={SHOP}, events=(), bridges=()
    )  # fmt: skip
    proof = evidence.proof_of(movements[0])
    assert (proof.sender, [each.is_own for each in proof.namings]) == ("", [False, False])


@pytest.mark.parametrize(("writer", "payer"), [(PAYER, PAYER), (TOOL, "")])
def test_an_account_that_pays_may_name_in_its_events_whom_it_likes(writer: str, payer: str) -> None:
    paid = log_of(0, PAYER, SHOP, 5)
    named = replace(paid, address=writer, topics=(WRAPPED, f"0x{'00' * 12}{SELLER[2:]}"), data=b"", index=1)
    root = call(TOOL, PAYER, REFERENCE, logs=[told(named, 1)], calls=[call(PAYER, TOKEN, logs=[told(paid)])])
    tree = read_trace(root, sent(root), receipt(paid, named))
    things = list(list_things((paid, named), tree.frame_of_log, is_known=lambda at: at == TOKEN))
    movements = [*list_token_movements(1, (paid, named), tree.frame_of_log), *things]
    evidence = TracedEvidence(
        tree, movements, listed=Listed(), earned={}, recipients={SHOP}, events=(), bridges=()
    )  # fmt: skip
    assert [row.sender for row in things] == [SELLER]
    assert evidence.proof_of(movements[0]).sender == payer

"""Whose money moves by a signature or a borrowed call, with a trace and without one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.rpc.abi import Function, Log
from api.services.ledger.evidence.calldata import CalldataEvidence
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import WRAPPED, list_token_movements
from api.services.ledger.evidence.permissions import PERMIT2
from api.services.ledger.evidence.traces import read_trace
from routing_engine.reference.chains import CHAINS
from tests.support.traces import (
    AUTHORIZED,
    PAYER,
    REFERENCE,
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


@pytest.mark.rule("evidence.3")
@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize("is_traced", [False, True])
def test_who_authorized_a_transfer_is_its_payer_whoever_hands_it_in(is_named: bool, is_traced: bool) -> None:
    """ERC-3009; what stands behind the call is the word of whoever handed it in."""
    log, data = log_of(0, PAYER, SHOP), AUTHORIZED + (REFERENCE if is_named else b"")
    root = call(TOOL, TOKEN, data, logs=[told(log)])
    found = evidence_of(read_trace(root, sent(root), receipt(log)), (log,)) if is_traced else calldata_of(root, log)
    (movement,) = found.movements
    proof = found.proof_of(movement)
    assert (proof.sender, proof.others) == (PAYER, ())
    assert [(each.is_own, each.caller) for each in proof.namings if each.reference == REFERENCE] == [
        (False, TOOL)
    ] * is_named


@pytest.mark.parametrize("is_traced", [False, True])
def test_an_authorization_of_somebody_else_is_nobodys(is_traced: bool) -> None:
    """A contract that looks like a token moves a lender's money, and the call carries another's signature."""
    log = log_of(0, person(7), SHOP)
    root = call(TOOL, TOKEN, AUTHORIZED, logs=[told(log)])
    found = evidence_of(read_trace(root, sent(root), receipt(log)), (log,)) if is_traced else calldata_of(root, log)
    (movement,) = found.movements
    proof = found.proof_of(movement)
    assert proof.sender == ""
    assert {TOOL, person(7)} <= set(proof.others)


@pytest.mark.parametrize("is_checked", [False, True])
def test_what_wraps_the_coin_checks_no_signature(is_checked: bool) -> None:
    """It takes a permit for a deposit of nothing; Permit2 would check one, and then nothing is deposited."""
    wrapper = CHAINS[1].wrapped_native
    permit = Function("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)")
    data = permit(wrapper, PAYER, TOOL, 1, 2**40, 27, bytes(32), bytes(32)).data
    moved = replace(log_of(1, PAYER, SHOP), address=wrapper)
    wrapped = replace(moved, topics=(WRAPPED, moved.topics[1]), data=bytes(32), index=0)
    logs = (moved,) if is_checked else (wrapped, moved)
    checking = call(person(1), PERMIT2, data) if is_checked else call(person(1), wrapper, data, logs=[told(wrapped)])
    root = call(TOOL, person(1), calls=[checking, call(person(1), wrapper, logs=[told(moved)])])
    found = evidence_of(read_trace(root, sent(root), receipt(*logs)), logs)
    movement = next(row for row in found.movements if row.amount)
    assert found.proof_of(movement).sender == (PAYER if is_checked else "")


@pytest.mark.parametrize("kind", ["CALL", "DELEGATECALL", "STATICCALL"])
def test_who_borrows_the_code_that_checks_signatures_checks_none(kind: str) -> None:
    """What was used up is not used up in the borrower's own storage."""
    data = Function("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)")
    signed = data(PERMIT2, PAYER, TOOL, 1, 2**40, 27, bytes(32), bytes(32)).data
    log = log_of(0, PAYER, SHOP)
    checking = call(person(1), PERMIT2, signed) | {"type": kind}
    root = call(TOOL, person(1), calls=[checking, call(person(1), TOKEN, logs=[told(log)])])
    found = evidence_of(read_trace(root, sent(root), receipt(log)), (log,))
    (movement,) = found.movements
    assert found.proof_of(movement).sender == (PAYER if kind == "CALL" else "")


@pytest.mark.parametrize("is_traced", [False, True])
def test_a_lender_is_not_the_payer_with_or_without_a_trace(is_traced: bool) -> None:
    log = log_of(0, PAYER, SHOP)
    root = call(TOOL, person(1), REFERENCE, calls=[call(person(1), TOKEN, logs=[told(log)])])
    found = evidence_of(read_trace(root, sent(root), receipt(log)), (log,)) if is_traced else calldata_of(root, log)
    (movement,) = found.movements
    proof = found.proof_of(movement)
    assert (proof.sender, [each.is_own for each in proof.namings][-1:]) == ("", [False])


def calldata_of(root: dict[str, Any], *logs: Log) -> CalldataEvidence:
    return CalldataEvidence(
        1, sent(root), receipt(*logs), tokens=list(list_token_movements(1, logs)), things=(), listed=Listed(),
        recipients={SHOP}, events=(),
    )  # fmt: skip

"""Traces and calldata that somebody crafted: read to an end, with work that grows as they do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from eth_abi import encode
from hypothesis import given
from hypothesis import strategies as st

from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function, Log
from adapters.transactions.base import PlannedHop, Terms
from adapters.transactions.decoding import LONGEST, decode_payment
from adapters.transactions.payment_builders import PaymentBuilders
from api.domain.transfers import FIRST_INNER_TRANSFER, Naming
from api.services.ledger.candidates import search_addresses
from api.services.ledger.evidence.call_paths import MOST_NAMINGS
from api.services.ledger.evidence.calldata import CalldataEvidence
from api.services.ledger.evidence.evidence import TracedEvidence
from api.services.ledger.evidence.listed_contracts import Listed
from api.services.ledger.evidence.movements import TRANSFER_TOPIC, WRAPPED, list_coin_movements, list_token_movements
from api.services.ledger.evidence.permissions import PERMIT2
from api.services.ledger.evidence.things import list_things
from api.services.ledger.evidence.traces import MOST_FRAMES, CallTree, UnbelievableTrace, read_trace
from api.services.ledger.rpc_records import ChainTransaction, Receipt
from routing_engine.model import Hop
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

SHOP, PAYER, TOKEN, TOOL, SELLER = (f"0x{digit * 20}" for digit in ("51", "aa", "cc", "77", "5e"))
REFERENCE = b"reference of one"
WORK = 60
"""Python calls for each call of a trace, at most."""


def person(number: int) -> str:
    return f"0x{number + 2**80:040x}"


def log_of(index: int, sender: str, recipient: str, amount: int = 1) -> Log:
    topics = (TRANSFER_TOPIC, *(f"0x{'00' * 12}{each[2:]}" for each in (sender, recipient)))
    return Log(
        address=TOKEN, topics=topics, data=amount.to_bytes(32), block_number=1, block_hash="0x" + "00" * 32,
        index=index,
    )  # fmt: skip


def told(log: Log, position: int = 0) -> dict[str, Any]:
    return {
        "address": log.address,
        "topics": list(log.topics),
        "data": f"0x{log.data.hex()}",
        "position": hex(position),
    }


def call(sender: str, to: str, data: bytes = b"", *, value: int = 0, logs: Any = (), calls: Any = ()) -> dict[str, Any]:
    frame = {"type": "CALL", "from": sender, "to": to, "input": f"0x{data.hex()}", "value": hex(value)}
    return frame | {"logs": list(logs), "calls": list(calls)}


def sent(root: dict[str, Any]) -> ChainTransaction:
    return ChainTransaction(
        tx_hash="0x" + "77" * 32, sender=root["from"], recipient=root["to"], value=int(root["value"], 16),
        calldata=bytes.fromhex(root["input"][2:]),
    )  # fmt: skip


def receipt(*logs: Log) -> Receipt:
    return Receipt(tx_hash="0x" + "77" * 32, block_hash="0x" + "00" * 32, is_successful=True, logs=logs)


def evidence_of(tree: CallTree, logs: tuple[Log, ...], *routers: str) -> TracedEvidence:
    movements = [*list_token_movements(1, logs, tree.frame_of_log), *list_coin_movements(tree)]
    listed = Listed(contracts=frozenset(routers), passing=frozenset(routers))
    return TracedEvidence(tree, movements, listed=listed, earned={}, recipients={SHOP}, events=(), bridges=())


def work_of(act: Callable[[], object]) -> int:
    """Return how many Python functions are called meanwhile."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def nest(depth: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return calls within calls, each of which moves something of somebody else to the shop."""
    logs = tuple(log_of(number, person(number), SHOP) for number in range(depth))
    frame = None
    for number in reversed(range(depth)):
        inner = [] if frame is None else [frame]
        frame = call(person(number), person(number + 1), REFERENCE, logs=[told(logs[number])], calls=inner)
    assert frame is not None
    return frame, logs


def row(length: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return one call that makes many."""
    logs = tuple(log_of(number, person(number), SHOP) for number in range(length))
    calls = [call(TOOL, TOKEN, REFERENCE, logs=[told(log)]) for log in logs]
    return call(PAYER, TOOL, REFERENCE, calls=calls), logs


def comb(length: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return calls a thousand deep, each with ten more beside it."""
    depth = length // 10
    logs = tuple(log_of(number, person(number), SHOP) for number in range(depth * 9))
    frame = call(TOOL, TOOL, REFERENCE)
    for number in reversed(range(depth)):
        mine = logs[number * 9 : number * 9 + 9]
        frame = call(TOOL, TOOL, REFERENCE, calls=[*(call(TOOL, TOKEN, logs=[told(log)]) for log in mine), frame])
    return frame, logs


def permitted(length: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return one call that makes many, each with a signature of whose money moves."""
    logs = tuple(log_of(number, PAYER, SHOP) for number in range(length))
    calls = [call(TOOL, TOKEN, AUTHORIZED, logs=[told(log)]) for log in logs]
    return call(TOOL, TOOL, REFERENCE, calls=calls), logs


def read_all(root: dict[str, Any], logs: tuple[Log, ...]) -> list[tuple[Naming, ...]]:
    tree = read_trace(root, sent(root), receipt(*logs))
    found = evidence_of(tree, logs)
    return [found.proof_of(movement).namings for movement in found.movements]


def test_a_trace_as_deep_as_the_evm_allows_is_read() -> None:
    root, logs = nest(1_024)
    namings = read_all(root, logs)
    assert [len(each) for each in namings[:3]] == [1, 2, 3]
    assert len(namings[-1]) == MOST_NAMINGS
    for each in namings:  # each call sends its caller's own, and those around it move what is somebody else's too
        assert [naming.is_own for naming in each] == [True, *[False] * (len(each) - 1)]


@pytest.mark.parametrize("shape", [row, comb, permitted])
def test_the_work_for_a_crafted_trace_grows_as_it_does(shape: Callable[[int], Any]) -> None:
    small, large = (shape(length) for length in (5_000, 10_000))
    few, many = (work_of(lambda each=each: read_all(*each)) for each in (small, large))
    assert many < WORK * 10_000
    assert many < 2.4 * few


def test_a_trace_of_endless_calls_is_given_up() -> None:
    root = call(PAYER, TOOL, calls=[call(TOOL, TOOL)] * MOST_FRAMES)
    with pytest.raises(UnbelievableTrace, match="more than"):
        read_trace(root, sent(root), receipt())


BROKEN: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "no addresses": {"type": "CALL"},
    "calls are no list": call(PAYER, TOOL) | {"calls": 7},
    "a call is none": call(PAYER, TOOL, calls=["x"]),
    "its value is none": call(PAYER, TOOL, calls=[call(TOOL, SHOP) | {"value": "much"}]),
    "it failed": call(PAYER, TOOL) | {"error": "execution reverted"},
    "another transaction's": call(TOOL, TOOL),
    "its input is no hex": call(PAYER, TOOL, calls=[call(TOOL, SHOP) | {"input": "0xzz"}]),
    "an event too many": call(PAYER, TOOL, logs=[told(log_of(0, PAYER, SHOP))]),
    "an event is none": call(PAYER, TOOL, logs=[7]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_trace_is_not_believed(name: str) -> None:
    with pytest.raises(UnbelievableTrace):
        read_trace(BROKEN[name], sent(call(PAYER, TOOL)), receipt())


def test_inner_coin_is_numbered_alike_whatever_else_a_node_tells() -> None:
    """Some leave calls of precompiled contracts out, and those that moved nothing mean nothing."""
    paid = [call(TOOL, SHOP, value=5), call(TOOL, SHOP, value=6)]
    noise = [call(TOOL, f"0x{1:040x}", value=9), call(TOOL, TOKEN)]
    for calls in (paid, [noise[0], paid[0], noise[1], paid[1]]):
        root = call(PAYER, TOOL, calls=calls)
        coin = list_coin_movements(read_trace(root, sent(root), receipt()))
        assert [(each.index, each.amount) for each in coin] == [
            (FIRST_INNER_TRANSFER - 1, 5),
            (FIRST_INNER_TRANSFER - 2, 6),
        ]


def test_borrowed_code_moves_no_coin_and_names_nothing() -> None:
    log = log_of(0, PAYER, SHOP)
    borrowed = call(TOKEN, TOOL, b"reference of two", value=5, logs=[told(log)]) | {"type": "DELEGATECALL"}
    root = call(PAYER, TOKEN, b"transfer" + REFERENCE, calls=[borrowed])
    tree = read_trace(root, sent(root), receipt(log))
    found = evidence_of(tree, (log,))
    (movement,) = found.movements
    assert found.proof_of(movement).namings == (Naming(reference=REFERENCE, is_own=True, caller=PAYER),)


AUTHORIZED = Function(
    "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)(TOKEN, PAYER, SHOP, 1, 0, 2**40, bytes(32), 27, bytes(32), bytes(32)).data


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


@given(before=st.binary(max_size=60), after=st.binary(max_size=60), number=st.integers(0, 2**160 - 1))
def test_an_address_is_found_wherever_it_stands(before: bytes, after: bytes, number: int) -> None:
    address = number.to_bytes(20)
    search = search_addresses([f"0x{address.hex()}", SHOP])
    assert search.has_any(before + address + after)
    assert search.is_named_in("0x" + (before + address + after).hex())
    assert search_addresses([]).has_any(address) is False


@given(data=st.binary(max_size=300))
def test_an_address_that_is_not_there_is_not_found(data: bytes) -> None:
    address = b"\x51" * 20
    assert search_addresses([SHOP]).has_any(data) == (address in data)


def test_crafted_calldata_is_searched_in_one_pass_for_however_many_addresses() -> None:
    """All of it begins like an address; counted is every place that is looked at."""
    wanted = [f"0x5151{number:036x}" for number in range(1, 2_001)]

    class Counted(bytes):
        looked = 0

        def __getitem__(self, key: Any) -> Any:
            Counted.looked += 1
            return bytes.__getitem__(self, key)

    places = []
    for length in (16_384, 98_304):
        Counted.looked = 0
        assert not search_addresses(wanted).has_any(Counted(b"\x51" * length))
        places.append(Counted.looked)
    assert places == [16_384 - 19, 98_304 - 19]


ROUTER = next(read_deployments("uniswap_v2", 8453)).get_address("router")
SWAP = bytes.fromhex("8803dbee") + encode(
    ["uint256", "uint256", "address[]", "address", "uint256"], [5, 9, [TOKEN, PAYER], SHOP, 2**40]
)


def test_a_call_that_is_built_is_read_back() -> None:
    usdc, dai = token_registry.token("USDC", 8453), token_registry.token("DAI", 8453)
    hop = Hop(market_id="x", protocol="uniswap_v2", token_in=usdc, token_out=dai, amount_in=9, amount_out=5)
    terms = Terms(payer=PAYER, recipient=SHOP, amount_in_max=9, amount_out=5, deadline=2**40)
    built = PaymentBuilders.load().build((PlannedHop(hop=hop),), usdc, terms)
    found = decode_payment(8453, built.to, built.data + REFERENCE)
    assert found is not None
    assert (found.token_address, found.recipient, found.amount, found.reference) == (dai.address, SHOP, 5, REFERENCE)


OTHERWISE: dict[str, tuple[str, bytes]] = {
    "another contract": (TOOL, SWAP),
    "cut off": (ROUTER, SWAP[:-1]),
    "more behind it than a reference": (ROUTER, SWAP + bytes(17)),
    "another function": (ROUTER, b"\0\0\0\0" + SWAP[4:]),
    "dirty padding": (ROUTER, SWAP[:-84] + b"\x01" + SWAP[-83:]),
    "too long": (ROUTER, SWAP + bytes(LONGEST)),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_call_that_is_anything_else_says_nothing(name: str) -> None:
    assert decode_payment(8453, ROUTER, SWAP) is not None
    assert decode_payment(8453, *OTHERWISE[name]) is None


@given(data=st.binary(max_size=400), name=st.sampled_from(["uniswap_v2", "uniswap_v3", "uniswap_v4", "cctp", "across"]))
def test_no_calldata_breaks_the_reading(data: bytes, name: str) -> None:
    field = {"cctp": "token_messenger", "across": "spoke_pool"}.get(name, "router")
    contract = next(read_deployments(name, 8453)).get_address(field)
    selectors = ("8803dbee", "5ae401dc", "3593564c", "779b432d", "7b939232")
    for selector in selectors:
        assert decode_payment(8453, contract, bytes.fromhex(selector) + data) is None


def test_a_receipt_with_more_than_the_trace_is_not_its() -> None:
    root = call(PAYER, TOOL)
    with pytest.raises(UnbelievableTrace, match="fewer"):
        read_trace(root, sent(root), receipt(replace(log_of(0, PAYER, SHOP), index=3)))


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
